// Package cluster finds the pods of a live cluster that work with configuration
// which is no longer the current one. It only reads.
//
// The way of the data, a file each:
//
//	read.go      lists in pages, notes what could not be read
//	owner.go     pod -> the workload it belongs to, and that workload's release
//	pod.go       pod -> a document for the engine, and when each container read
//	shape.go     documents -> who consumes what, by the engine's Plan
//	reading.go   what is kept of each pod
//	object.go    the consumed ConfigMaps and Secrets: history, version, checksums
//	history.go   managedFields -> when the content changed
//	decide.go    one pod, one object -> its state: pure, no cluster needed
//	report.go    states -> one line per workload and object
//	table.go     the report for people
package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Options says where to look and how to judge.
type Options struct {
	// Namespaces to look into; empty means all.
	Namespaces []string

	// Release narrows the look to the workloads of the Helm release or
	// HelmRelease of that name; empty means every workload.
	Release string

	// IgnoreSecrets leaves out every reference to a Secret. No Secret is then read.
	IgnoreSecrets bool

	// HMACKey is the key of keyed checksums, if the stamps were made with one.
	HMACKey []byte

	// PageSize is how many objects one list request asks for; 0 means 250.
	PageSize int64

	// Now is the time that the report carries; nil means time.Now.
	Now func() time.Time
}

// A Cluster is a connection to look through.
type Cluster struct {
	host  string
	typed kubernetes.Interface
	meta  metadata.Interface
}

// contentGets is how many ConfigMaps and Secrets are read at the same time. It is
// what bounds the load on the API server, in place of client-go's queries per second.
const contentGets = 8

// New returns a Cluster for the connection that config describes.
func New(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	if config.UserAgent == "" {
		config.UserAgent = "helm-checksum-status"
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	// Protobuf is decoded several times faster than JSON, which is what counts with thousands of pods.
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return &Cluster{host: config.Host, typed: typed, meta: meta}, nil
}

// Status looks at the cluster once. An error means that there is no answer: the
// cluster can't be reached, is too old, refuses the list of pods, or has no workload
// of the release asked for. What else could not be read is in the report.
func (c *Cluster) Status(ctx context.Context, o Options) (*Report, error) {
	if err := c.checkVersion(ctx); err != nil {
		return nil, err
	}
	scopes := slices.Clone(o.Namespaces)
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	if len(scopes) == 0 {
		scopes = []string{""}
	}
	r := newReader(c, o)
	owners := newOwners(r)
	shapes, err := newShapes(o.IgnoreSecrets)
	if err != nil {
		return nil, err
	}
	readings := newReadings()
	for _, scope := range scopes {
		if err := owners.loadBuiltIn(ctx, scope); err != nil {
			return nil, err
		}
		err := r.pods(ctx, scope, func(page []corev1.Pod) error {
			return readPage(ctx, page, scope, o, owners, shapes, readings)
		})
		if err != nil {
			return nil, err
		}
	}
	if o.Release != "" && readings.pods == 0 && !owners.anyOf(o.Release) {
		return nil, fmt.Errorf("no workload of a Helm release or HelmRelease named %q in %s (-n names another namespace, -A looks in all)",
			o.Release, places(o.Namespaces))
	}
	objects, err := r.objects(ctx, scopes, readings)
	if err != nil {
		return nil, err
	}
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	return newReport(o, now(), readings, objects, r.unread(), shapes.problems), nil
}

// readPage takes from one page of pods what the verdicts need, so that the page can be dropped.
func readPage(ctx context.Context, page []corev1.Pod, scope string, o Options, owners *owners, shapes *shapes, readings *readings) error {
	type running struct {
		pod   *corev1.Pod
		owner *workload
		shape *shape
	}
	var pods []running
	for i := range page {
		p := &page[i]
		if p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		w, err := owners.of(ctx, scope, p)
		if err != nil {
			return err
		}
		if o.Release != "" {
			ok, err := owners.belongs(ctx, scope, w, p, o.Release)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		s, err := shapes.add(p, w)
		if err != nil {
			return err
		}
		pods = append(pods, running{p, w, s})
	}
	shapes.plan()
	for _, p := range pods {
		readings.add(p.pod, p.owner, p.shape)
	}
	return nil
}

func places(namespaces []string) string {
	switch len(namespaces) {
	case 0:
		return "any namespace"
	case 1:
		return "namespace " + namespaces[0]
	}
	return "namespaces " + strings.Join(namespaces, ", ")
}
