package renderer

import (
	"bytes"
	"strings"
)

// Options says how to plan and stamp. The zero value is the default behaviour.
type Options struct {
	// Namespace is the release namespace. Empty means that it is not known, as
	// under Helm, which tells a post-renderer no namespace (CONTRACT.md section 3).
	Namespace string

	// IgnoreSecrets leaves every reference to a Secret out, as "ignored".
	IgnoreSecrets bool

	// Strict makes a required reference to an object outside the stream an error.
	Strict bool

	// OptIn stamps only workloads annotated helm-checksum/stamp: "true".
	OptIn bool

	// Skip holds KIND/NAME patterns of workloads that are not to be stamped and
	// of config objects that no one is to be stamped for; * matches within names.
	Skip []string

	// Ignore holds [KIND/NAME:]configmap/NAME or [KIND/NAME:]secret/NAME patterns of
	// references that do not count; * matches within names.
	Ignore []string

	// Workloads holds further kinds with pod templates, as GROUP/KIND=PATH.
	Workloads []string

	// HMACKey, when not empty, keys the checksums (HMAC-SHA-256).
	HMACKey []byte
}

// A Renderer plans and stamps streams. It holds no state between calls and is
// safe for concurrent use. It is a post-renderer for the SDKs of Helm 3
// (helm.sh/helm/v3/pkg/postrender) and of Helm 4 (helm.sh/helm/v4/pkg/postrenderer).
type Renderer struct {
	options Options
	kinds   *kinds
	skip    []pattern
	ignore  []selector
}

// New returns a Renderer. Its errors are about options that can't be read: a bad
// pattern in Skip or Ignore, a bad entry in Workloads.
func New(o Options) (*Renderer, error) {
	k, err := newKinds(o.Workloads)
	if err != nil {
		return nil, err
	}
	r := &Renderer{options: o, kinds: k}
	for _, s := range o.Skip {
		p, err := parseSkip(s)
		if err != nil {
			return nil, err
		}
		r.skip = append(r.skip, p)
	}
	for _, s := range o.Ignore {
		sel, err := parseIgnore(s)
		if err != nil {
			return nil, err
		}
		r.ignore = append(r.ignore, sel)
	}
	return r, nil
}

// skips says whether the Skip option names an object.
func (r *Renderer) skips(kind, name string) bool {
	for _, p := range r.skip {
		if p.kind == strings.ToLower(kind) && match(p.name, name) {
			return true
		}
	}
	return false
}

// ignores says whether a reference of a workload, which has these patterns of its
// own or nil, does not count.
func (r *Renderer) ignores(w *workload, own *patterns, c *consumed) bool {
	if c.kind == secretKind && r.options.IgnoreSecrets || own != nil && own.match(c.kind, c.name) {
		return true
	}
	for _, s := range r.ignore {
		if s.pattern.kind == c.kind && match(s.pattern.name, c.name) &&
			(s.workload == nil || s.workload.kind == strings.ToLower(w.Kind) && match(s.workload.name, w.Name)) {
			return true
		}
	}
	return false
}

// Run reads a rendered stream and returns it stamped. An error leaves no output.
func (r *Renderer) Run(in *bytes.Buffer) (*bytes.Buffer, error) {
	s, err := r.Stamp(in.Bytes())
	if err != nil {
		return nil, err
	}
	out := new(bytes.Buffer)
	if _, err := s.WriteTo(out); err != nil {
		return nil, err
	}
	return out, nil
}
