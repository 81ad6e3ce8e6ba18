package cluster

import (
	"context"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// few objects of a kind are read one by one; more are picked from a list.
const few = 10

// An object is a consumed ConfigMap or Secret, without its content.
type object struct {
	unread    bool // not allowed
	exists    bool
	skip      bool // helm-checksum/skip
	uid       string
	version   string // resourceVersion
	history   history
	checksums map[string]checksums // by the joined keys, where a pod has a stamp for them
}

// checksums are what the stamp of current content may be.
type checksums struct{ plain, keyed string }

func (o *object) describe(m *metav1.ObjectMeta) {
	o.exists = true
	o.skip = m.Annotations["helm-checksum/skip"] == "true"
	o.uid = string(m.UID)
	o.version = m.ResourceVersion
	o.history = readHistory(m.CreationTimestamp, m.ManagedFields)
}

// objects reads what the verdicts need of the consumed objects: metadata of them
// all, and the content of those that some pod has a checksum for.
func (r *reader) objects(ctx context.Context, scopes []string, readings *readings) (map[objectKey]*object, error) {
	found := map[objectKey]*object{}
	stamped := map[objectKey]map[string][]string{}
	for key, line := range readings.lines {
		found[key.object] = &object{}
		for _, p := range line.pods {
			if p.stamp() == "" {
				continue
			}
			if stamped[key.object] == nil {
				stamped[key.object] = map[string][]string{}
			}
			stamped[key.object][joined(p.consumption.keys)] = p.consumption.keys
		}
	}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		rest := map[objectKey]bool{}
		for key := range found {
			if key.kind == kind {
				rest[key] = true
			}
		}
		for _, scope := range scopes {
			var here []objectKey
			for key := range rest {
				if scope == "" || key.namespace == scope {
					here = append(here, key)
					delete(rest, key)
				}
			}
			if err := r.describe(ctx, kind, scope, here, found); err != nil {
				return nil, err
			}
		}
		for key := range rest { // named with a namespace that was not asked for
			if err := r.describe(ctx, kind, key.namespace, []objectKey{key}, found); err != nil {
				return nil, err
			}
		}
	}
	return found, r.contents(ctx, found, stamped)
}

// describe reads the metadata of objects of one kind in one scope.
func (r *reader) describe(ctx context.Context, kind, scope string, keys []objectKey, found map[objectKey]*object) error {
	resource := schema.GroupVersionResource{Version: "v1", Resource: strings.ToLower(kind) + "s"}
	denied := func(err error, namespace string, keys ...objectKey) {
		r.note(resource.Resource, namespace, err)
		for _, key := range keys {
			found[key].unread = true
		}
	}
	if len(keys) > few {
		err := r.metadata(ctx, resource, scope, func(m *metav1.ObjectMeta) {
			if o := found[objectKey{kind, m.Namespace, m.Name}]; o != nil {
				o.describe(m)
			}
		})
		if apierrors.IsForbidden(err) {
			denied(err, scope, keys...)
			return nil
		}
		return r.explain(err, "listing "+resource.Resource)
	}
	for _, key := range keys {
		m, err := r.meta.Resource(resource).Namespace(key.namespace).Get(ctx, key.name, metav1.GetOptions{})
		switch {
		case apierrors.IsForbidden(err):
			denied(err, key.namespace, key)
		case apierrors.IsNotFound(err):
		case err != nil:
			return r.explain(err, "reading "+kind+" "+key.namespace+"/"+key.name)
		default:
			found[key].describe(&m.ObjectMeta)
		}
	}
	return nil
}

// contents computes the checksums that stamps are compared with, a few objects at
// a time, and keeps nothing else of the content.
func (r *reader) contents(ctx context.Context, found map[objectKey]*object, stamped map[objectKey]map[string][]string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		work   = make(chan objectKey)
		group  sync.WaitGroup
		mutex  sync.Mutex // guards failed and the reader's notes
		failed error
	)
	for range contentGets {
		group.Go(func() {
			for key := range work {
				err := r.content(ctx, key, stamped[key], found[key])
				if err == nil {
					continue
				}
				mutex.Lock()
				if apierrors.IsForbidden(err) {
					r.note("the content of "+strings.ToLower(key.kind)+"s", key.namespace, err)
				} else if failed == nil {
					failed = r.explain(err, "reading "+key.kind+" "+key.namespace+"/"+key.name)
					cancel()
				}
				mutex.Unlock()
			}
		})
	}
	for key := range stamped {
		if o := found[key]; o.exists {
			work <- key
		}
	}
	close(work)
	group.Wait()
	return failed
}

// content reads one object. Its metadata is taken anew: it may have changed since the list.
func (r *reader) content(ctx context.Context, key objectKey, sets map[string][]string, o *object) error {
	content := map[string][]byte{}
	var m *metav1.ObjectMeta
	if key.kind == "Secret" {
		s, err := r.typed.CoreV1().Secrets(key.namespace).Get(ctx, key.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			*o = object{}
			return nil
		}
		if err != nil {
			return err
		}
		m, content = &s.ObjectMeta, s.Data
	} else {
		c, err := r.typed.CoreV1().ConfigMaps(key.namespace).Get(ctx, key.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			*o = object{}
			return nil
		}
		if err != nil {
			return err
		}
		m = &c.ObjectMeta
		configMapContent(c, content)
	}
	o.describe(m)
	o.checksums = make(map[string]checksums, len(sets))
	for name, keys := range sets {
		sums := checksums{plain: renderer.Checksum(key.kind, content, keys, nil)}
		if len(r.options.HMACKey) > 0 {
			sums.keyed = renderer.Checksum(key.kind, content, keys, r.options.HMACKey)
		}
		o.checksums[name] = sums
	}
	return nil
}

func configMapContent(c *corev1.ConfigMap, content map[string][]byte) {
	for key, value := range c.Data {
		content[key] = []byte(value)
	}
	for key, value := range c.BinaryData {
		content[key] = value
	}
}

// joined makes a map key of consumed keys; a newline can't be in one.
func joined(keys []string) string { return strings.Join(keys, "\n") }

// versionStamp is the annotation key of the policy's stamp for an object.
func versionStamp(kind, name, uid string) string {
	const longest = 45
	if len(name) > longest {
		name = name[:8] + "-" + uid
	}
	return "helm-checksum/" + strings.ToLower(kind) + "-version." + name
}
