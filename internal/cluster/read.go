package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// defaultPageSize bounds the memory: a pod takes some 20 KB while its page is looked at.
const defaultPageSize = 250

// oldestMinor is the first Kubernetes 1.x in which managedFields are stable.
const oldestMinor = 22

// An Unread is something that could not be read for lack of permission.
type Unread struct {
	Resource  string `json:"resource"`  // such as secrets, or rollouts.argoproj.io
	Namespace string `json:"namespace"` // empty: in all
	Reason    string `json:"reason"`
}

// A reader reads from one cluster, in pages, and notes what it may not read.
type reader struct {
	*Cluster
	options   Options
	notes     map[Unread]bool
	resources map[string]*metav1.APIResourceList // by apiVersion
}

func newReader(c *Cluster, o Options) *reader {
	return &reader{Cluster: c, options: o, notes: map[Unread]bool{}, resources: map[string]*metav1.APIResourceList{}}
}

func (r *reader) note(resource, namespace string, err error) {
	reason := oneLine(apiMessage(err))
	if _, who, ok := strings.Cut(reason, " is forbidden: "); ok { // the rest names one object of many
		reason = who
	}
	r.notes[Unread{resource, namespace, reason}] = true
}

// unread returns the notes in a fixed order.
func (r *reader) unread() []Unread {
	list := make([]Unread, 0, len(r.notes))
	for u := range r.notes {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b Unread) int {
		return strings.Compare(a.Resource+"\n"+a.Namespace+"\n"+a.Reason, b.Resource+"\n"+b.Namespace+"\n"+b.Reason)
	})
	return list
}

// pages calls page for one page of a list after the other. A continue token that
// expires on the way is exchanged for the one that the API server offers instead.
func (r *reader) pages(ctx context.Context, page func(metav1.ListOptions) (metav1.ListInterface, error)) error {
	options := metav1.ListOptions{Limit: r.options.PageSize}
	if options.Limit == 0 {
		options.Limit = defaultPageSize
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, err := page(options)
		if err != nil {
			if next := offeredToken(err); options.Continue != "" && next != "" {
				options.Continue = next
				continue
			}
			return err
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// offeredToken returns the continue token that comes with a 410 Gone: the rest of
// the list, as it is now (https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks).
func offeredToken(err error) string {
	var status apierrors.APIStatus
	if apierrors.IsResourceExpired(err) && errors.As(err, &status) {
		return status.Status().Continue
	}
	return ""
}

// pods hands on the pods of a scope that have not ended, a page at a time.
func (r *reader) pods(ctx context.Context, scope string, use func([]corev1.Pod) error) error {
	var failed error
	err := r.pages(ctx, func(lo metav1.ListOptions) (metav1.ListInterface, error) {
		lo.FieldSelector = "status.phase!=Succeeded,status.phase!=Failed"
		l, err := r.typed.CoreV1().Pods(scope).List(ctx, lo)
		if err != nil {
			return nil, err
		}
		if failed = use(l.Items); failed != nil {
			return &metav1.ListMeta{}, nil
		}
		return l, nil
	})
	if failed != nil {
		return failed
	}
	return r.explain(err, "listing pods")
}

// metadata hands on the metadata of every object of a resource in a scope.
func (r *reader) metadata(ctx context.Context, resource schema.GroupVersionResource, scope string, use func(*metav1.ObjectMeta)) error {
	return r.pages(ctx, func(lo metav1.ListOptions) (metav1.ListInterface, error) {
		l, err := r.meta.Resource(resource).Namespace(scope).List(ctx, lo)
		if err != nil {
			return nil, err
		}
		for i := range l.Items {
			use(&l.Items[i].ObjectMeta)
		}
		return l, nil
	})
}

// resource finds out under which name the API serves a kind.
func (r *reader) resource(ctx context.Context, apiVersion, kind string) (found schema.GroupVersionResource, namespaced bool, err error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return found, false, err
	}
	list, ok := r.resources[apiVersion]
	if !ok {
		path := "/apis/" + apiVersion
		if gv.Group == "" {
			path = "/api/" + apiVersion
		}
		text, err := r.typed.Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx).Raw()
		if err != nil {
			return found, false, err
		}
		list = &metav1.APIResourceList{}
		if err := json.Unmarshal(text, list); err != nil {
			return found, false, fmt.Errorf("reading %s: %w", path, err)
		}
		r.resources[apiVersion] = list
	}
	for _, one := range list.APIResources {
		if one.Kind == kind && !strings.Contains(one.Name, "/") {
			return gv.WithResource(one.Name), one.Namespaced, nil
		}
	}
	return found, false, fmt.Errorf("the API serves no %s in %s", kind, apiVersion)
}

// checkVersion makes sure that there is a cluster that can answer.
func (c *Cluster) checkVersion(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	text, err := c.typed.Discovery().RESTClient().Get().AbsPath("/version").SetHeader("Accept", "application/json").Do(short).Raw()
	if apierrors.IsForbidden(err) { // who may list pods need not be allowed to ask this
		return nil
	}
	if err != nil {
		return c.explain(err, "asking for the version")
	}
	var v version.Info
	if err := json.Unmarshal(text, &v); err != nil || v.Major == "" {
		return fmt.Errorf("%s does not answer like a Kubernetes API server (--kubeconfig and --context choose another)", c.host)
	}
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	if v.Major == "1" && err == nil && minor < oldestMinor {
		return fmt.Errorf("the cluster at %s is Kubernetes %s.%s: status needs 1.%d or later, whose objects record when they were changed (managedFields)",
			c.host, v.Major, v.Minor, oldestMinor)
	}
	return nil
}

// explain makes one clear line of an error that leaves no answer; nil stays nil.
func (c *Cluster) explain(err error, doing string) error {
	if err == nil {
		return nil
	}
	var transport *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: not allowed: %s (deploy/status-clusterrole.yaml has the rights that status needs)", doing, oneLine(apiMessage(err)))
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: the cluster at %s does not accept these credentials: log in again, or choose others (--kubeconfig, --context, --token)", doing, c.host)
	case errors.As(err, &transport):
		return fmt.Errorf("cannot reach the cluster at %s: %s (--kubeconfig and --context choose another)", c.host, oneLine(transport.Err.Error()))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("cannot reach the cluster at %s: no answer in time (--kubeconfig and --context choose another)", c.host)
	}
	return fmt.Errorf("%s: %s", doing, oneLine(apiMessage(err)))
}

// apiMessage is what the API server said, without the wrapping of the client.
func apiMessage(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
