// Package release turns a Flux HelmRelease, as it stands in Git, into the stream
// of manifests that helm-controller would apply for it: it finds the sources and the
// objects with values, gets the chart, merges the values, renders with Helm's SDK and
// runs the release's other post-renderers.
//
//	set, err := release.Load([]string{"clusters/production"}, release.Options{})
//	for _, r := range set.Releases() {
//		rendered, err := r.Render(ctx)
//	}
//
// It does what helm-controller 1.6 does with Helm 4's SDK and kustomize, without a cluster.
package release

import (
	"fmt"
	"io"
	"strings"
)

// Options says where things come from that are not under the paths, and how the
// cluster is set up. The zero value is what a cluster with Flux's defaults has.
type Options struct {
	// Sources maps KIND/NAME, or KIND/NAMESPACE/NAME, of a GitRepository, Bucket or
	// HelmChart to the local directory that holds its content.
	Sources map[string]string

	// Charts maps a release, NAME or NAMESPACE/NAME, to the chart to use in place of
	// its own: a chart directory, a .tgz file or an oci:// reference with tag or digest.
	Charts map[string]string

	// ValuesFrom maps KIND/NAME, or KIND/NAMESPACE/NAME, of a ConfigMap or Secret to a
	// file: the object's manifest, or else the values themselves.
	ValuesFrom map[string]string

	// SkipMissingValues is for the caller to honour: Render always returns a
	// *MissingValuesError, and the caller leaves such a release out.
	SkipMissingValues bool

	// Vars are the variables of kustomize-controller's post-build substitution.
	// Nil means no substitution, with a warning where ${VAR} occurs.
	Vars map[string]string

	// KubeVersion and APIVersions are what the chart sees as .Capabilities.
	KubeVersion string
	APIVersions []string

	// PostRenderStrategy is the controller's default for releases without
	// spec.postRenderStrategy: combined (the default when empty), separate or nohooks.
	PostRenderStrategy string

	// CacheDir holds downloads; os.UserCacheDir()/helm-checksum when empty.
	CacheDir string

	// Log receives what one may want to know (downloads), one line each; may be nil.
	Log io.Writer
}

// A File is a file that was read.
type File struct {
	Path    string
	Content []byte
}

// A Rendered is what helm-controller would apply for a release, our own
// post-renderer entry left out.
type Rendered struct {
	// Stream is the manifests as a post-renderer at the end of the release's own would get
	// them: hooks included where the strategy has them post-rendered, Helm 4's file-name
	// annotation on each document.
	Stream []byte

	// Streams is Stream as Helm hands it over: hooks apart from the rest with the strategy
	// separate (a post-renderer sees one at a time), else one stream.
	Streams [][]byte

	// ChartHasClock says that some template asked for the time of day. RenderAgain moves
	// that time; a second Render would have to be over a second later.
	ChartHasClock bool

	// Namespace is the release namespace, where objects without one go.
	Namespace string

	// Warnings are in a deterministic order.
	Warnings []string
}

// A MissingValuesError is about values that are needed and can't be had: an object of
// spec.valuesFrom that is nowhere, lacks the key, or is encrypted.
type MissingValuesError struct {
	Release string // NAMESPACE/NAME
	Field   string // such as spec.valuesFrom[1]
	Kind    string // ConfigMap or Secret
	Name    string
	Reason  string // such as "not found under the paths or in the Git repository"
}

// Error names the release, the field, what is wrong, and the flag that supplies the object.
func (e *MissingValuesError) Error() string {
	return fmt.Sprintf("HelmRelease %s: %s: %s %s %s; supply it with --values-from %s/%s=FILE",
		strings.TrimPrefix(e.Release, "/"), e.Field, e.Kind, e.Name, e.Reason, e.Kind, e.Name)
}
