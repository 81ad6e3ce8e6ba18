package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A Release is one HelmRelease, API versions v2, v2beta2 and v2beta1.
type Release struct {
	Name, Namespace string

	// Path is the file, Doc the document in it (counted from 1), Line the first line of that document with content (counted
	// from 1), and Index the item of a kind: List, else -1.
	Path  string
	Doc   int
	Line  int
	Index int

	APIVersion  string
	Annotations map[string]string

	// IsPatch says that this is no release but a patch for one: it names no chart, or a
	// kustomization beside it lists its file as a patch.
	IsPatch bool

	// ReleaseName, TargetNamespace and StorageNamespace are the effective ones: what
	// Helm's release is called, where its objects go, and where Helm keeps the release.
	ReleaseName, TargetNamespace, StorageNamespace string

	// Object is the HelmRelease as the cluster gets it, variables substituted.
	Object map[string]any

	spec spec
	set  *Set
	dir  string // the directory that relative things start from
}

// spec is what is read of a HelmRelease's spec, the fields of all API versions in one.
type spec struct {
	Chart *struct {
		Spec chartSpec `json:"spec"`
	} `json:"chart"`
	ChartRef *objectRef `json:"chartRef"`

	ReleaseName      string `json:"releaseName"`
	TargetNamespace  string `json:"targetNamespace"`
	StorageNamespace string `json:"storageNamespace"`

	ValuesFrom []valuesRef    `json:"valuesFrom"`
	Values     map[string]any `json:"values"`

	Install struct {
		DisableSchemaValidation bool `json:"disableSchemaValidation"`
	} `json:"install"`
	Upgrade struct {
		DisableSchemaValidation bool `json:"disableSchemaValidation"`
		PreserveValues          bool `json:"preserveValues"`
	} `json:"upgrade"`

	PostRenderers      []postRenderer  `json:"postRenderers"`
	PostRenderStrategy string          `json:"postRenderStrategy"`
	CommonMetadata     *commonMetadata `json:"commonMetadata"`
}

// chartSpec is spec.chart.spec of a HelmRelease, and the spec of a HelmChart.
type chartSpec struct {
	Chart                    string    `json:"chart"`
	Version                  string    `json:"version"`
	SourceRef                objectRef `json:"sourceRef"`
	ReconcileStrategy        string    `json:"reconcileStrategy"`
	ValuesFile               string    `json:"valuesFile"` // v2beta1 and v2beta2
	ValuesFiles              []string  `json:"valuesFiles"`
	IgnoreMissingValuesFiles bool      `json:"ignoreMissingValuesFiles"`
}

// files returns the values files in order; the old field's comes first.
func (c chartSpec) files() []string {
	files := c.ValuesFiles
	if c.ValuesFile != "" {
		files = append([]string{c.ValuesFile}, files...)
	}
	if len(files) == 1 && filepath.Clean(files[0]) == "values.yaml" {
		return nil // the chart's own: nothing to change (source-controller, BuildOptions)
	}
	return files
}

type objectRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

type valuesRef struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	ValuesKey  string `json:"valuesKey"`
	TargetPath string `json:"targetPath"`
	Optional   bool   `json:"optional"`
	Literal    bool   `json:"literal"`
}

type commonMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

var servedVersions = []string{"v2", "v2beta2", "v2beta1"}

// newRelease reads a HelmRelease.
func newRelease(s *Set, o *object) (*Release, error) {
	r := &Release{
		Name: o.name, Namespace: o.namespace,
		Path: o.path, Doc: o.doc, Line: o.line, Index: o.index,
		APIVersion: o.apiVersion, Object: o.content,
		set: s, dir: filepath.Dir(o.path),
	}
	if r.Name == "" {
		return nil, errors.New("HelmRelease: metadata.name is missing")
	}
	if _, version, _ := strings.Cut(o.apiVersion, "/"); !slices.Contains(servedVersions, version) {
		return nil, fmt.Errorf("HelmRelease %s: apiVersion %s is not known; known versions of %s are %s",
			r.id(), o.apiVersion, helmReleaseGroup, strings.Join(servedVersions, ", "))
	}
	if o.unusable != "" {
		return nil, fmt.Errorf("HelmRelease %s: %s; decrypt it, or stamp the decrypted stream with -", r.id(), o.unusable)
	}
	metadata, _ := o.content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	r.Annotations = map[string]string{}
	for k, v := range annotations {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("HelmRelease %s: metadata.annotations[%s] is not a string; quote it", r.id(), k)
		}
		r.Annotations[k] = text
	}
	if err := decode(o.content["spec"], &r.spec); err != nil {
		return nil, fmt.Errorf("HelmRelease %s: spec%w", r.id(), err)
	}
	r.IsPatch = r.namesNoChart() || isPatchFile(o.path)
	r.setNames()
	return r, nil
}

// namesNoChart recognizes a patch: patches often set spec.chart.spec.version alone.
func (r *Release) namesNoChart() bool {
	return r.spec.ChartRef == nil &&
		(r.spec.Chart == nil || r.spec.Chart.Spec.Chart == "" && r.spec.Chart.Spec.SourceRef.Name == "")
}

// isPatchFile says whether the kustomization beside a file lists it as a patch.
func isPatchFile(name string) bool {
	k, ok := kustomizationOf(filepath.Dir(name))
	if !ok {
		return false
	}
	files := slices.Clone(k.PatchesStrategicMerge)
	for _, p := range k.Patches {
		if file, ok := p["path"].(string); ok {
			files = append(files, file)
		}
	}
	for _, file := range files {
		if !strings.Contains(file, "\n") && filepath.Clean(file) == filepath.Base(name) {
			return true
		}
	}
	return false
}

// setNames applies helm-controller's defaults (api/v2, GetReleaseName and the like).
func (r *Release) setNames() {
	r.TargetNamespace, r.StorageNamespace = r.Namespace, r.Namespace
	r.ReleaseName = r.Name
	if ns := r.spec.TargetNamespace; ns != "" {
		r.TargetNamespace = ns
		r.ReleaseName = ns + "-" + r.Name
	}
	if r.spec.ReleaseName != "" {
		r.ReleaseName = r.spec.ReleaseName
	}
	r.ReleaseName = shortenName(r.ReleaseName)
	if ns := r.spec.StorageNamespace; ns != "" {
		r.StorageNamespace = ns
	}
}

// checkNames refuses names that the API server or Helm would. What variables stand for may
// not be known; only in the release's name Helm minds.
func (r *Release) checkNames() error {
	const namespaceRemedy = "a namespace is up to 63 lower case letters, digits and hyphens"
	for _, n := range []struct {
		field, name, remedy string
		ok                  func(string) bool
	}{
		{"metadata.namespace", r.Namespace, namespaceRemedy, isNamespace},
		{"spec.targetNamespace", r.spec.TargetNamespace, namespaceRemedy, isNamespace},
		{"spec.storageNamespace", r.spec.StorageNamespace, namespaceRemedy, isNamespace},
		{"spec.releaseName", r.spec.ReleaseName, "Helm allows up to 53 lower case letters, digits, hyphens and periods",
			func(name string) bool {
				return len(name) <= maxReleaseName && chartutil.ValidateReleaseName(name) == nil
			}},
	} {
		if n.name != "" && !strings.Contains(n.name, "${") && !n.ok(n.name) {
			return fieldErrorf(n.field, "%q can't be one: %s", n.name, n.remedy)
		}
	}
	if !strings.Contains(r.ReleaseName, "${") {
		return nil
	}
	field := "metadata.name"
	switch {
	case r.spec.ReleaseName != "":
		field = "spec.releaseName"
	case strings.Contains(r.spec.TargetNamespace, "${"):
		field = "spec.targetNamespace"
	}
	return fieldErrorf(field, "makes %s the release's name, with a variable that was not substituted: give it with --var or --vars-from", r.ReleaseName)
}

func isNamespace(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }

// Helm allows 53 characters for a release name. helm-controller cuts a longer one to 40,
// and appends a hyphen and 12 hex digits of its SHA-256 (internal/release/name.go).
const (
	maxReleaseName   = 53
	releaseNameHash  = 12
	releaseNameStart = maxReleaseName - releaseNameHash - 1
)

func shortenName(name string) string {
	if len(name) <= maxReleaseName {
		return name
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	return name[:releaseNameStart] + "-" + sum[:releaseNameHash]
}

// id is how messages call the release.
func (r *Release) id() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// place is where the release is taken to be when the nearest object is sought.
func (r *Release) place() string { return filepath.Join(r.dir, filepath.Base(r.Path)) }

func (r *Release) wrap(err error) error {
	if missing := (*MissingValuesError)(nil); errors.As(err, &missing) {
		return err // names the release itself
	}
	return fmt.Errorf("HelmRelease %s: %w", r.id(), err)
}

// decode reads a part of an object into a struct. An error starts with the path of the
// field within that part, such as ".chart.spec.version: want a string, found a number".
func decode(from any, into any) error {
	if from == nil {
		return nil
	}
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	err = json.NewDecoder(bytes.NewReader(text)).Decode(into)
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		field := ""
		if mismatch.Field != "" {
			field = "." + mismatch.Field
		}
		return fmt.Errorf("%s: want %s, found %s", field, jsonType(mismatch.Type.Kind().String()), jsonType(mismatch.Value))
	}
	return err
}

// jsonType words a Go kind or encoding/json's word for a value as a user says it.
func jsonType(word string) string {
	word, _, _ = strings.Cut(word, " ")
	switch word {
	case "struct", "map", "object", "ptr":
		return "a map"
	case "slice", "array":
		return "a list"
	case "bool":
		return "true or false"
	}
	return "a " + word
}
