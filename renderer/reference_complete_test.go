package renderer

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// notReferences are the fields of a pod spec that look like references to a config
// object, by type or name, and why the engine passes over them.
var notReferences = map[string]string{
	"imagePullSecrets[]": "a running container does not read them",
	"ephemeralContainers[].env[].valueFrom.configMapKeyRef": noEphemeral,
	"ephemeralContainers[].env[].valueFrom.secretKeyRef":    noEphemeral,
	"ephemeralContainers[].env[].valueFrom.fileKeyRef":      noEphemeral,
	"ephemeralContainers[].envFrom[].configMapRef":          noEphemeral,
	"ephemeralContainers[].envFrom[].secretRef":             noEphemeral,
	"initContainers[].env[].valueFrom.fileKeyRef":           "it names a file in a volume of the pod",
	"containers[].env[].valueFrom.fileKeyRef":               "it names a file in a volume of the pod",

	"volumes[].cephfs.secretFile": "a path on the node",

	"volumes[].projected.sources[]":                     "one of those below, which are looked at each",
	"volumes[].projected.sources[].downwardAPI":         "it shows fields of the pod itself",
	"volumes[].projected.sources[].serviceAccountToken": "the kubelet asks for the token and renews it",
	"volumes[].projected.sources[].clusterTrustBundle":  "it names a ClusterTrustBundle, which the kubelet keeps up to date",
	"volumes[].projected.sources[].podCertificate":      "the kubelet asks for the certificate and renews it",
}

const noEphemeral = "pod templates can't hold ephemeral containers"

// knownReferences returns the places of the engine's tables, as paths in a pod spec.
func knownReferences() []string {
	var all []string
	for _, containers := range []string{"containers[]", "initContainers[]"} {
		for _, s := range envSources {
			all = append(all, containers+".env[].valueFrom."+s.field)
		}
		for _, s := range envFromSources {
			all = append(all, containers+".envFrom[]."+s.field)
		}
	}
	for _, s := range volumeSources {
		all = append(all, "volumes[]."+s.field)
		if s.name != "name" { // which says nothing of what it names
			all = append(all, "volumes[]."+s.field+"."+s.name)
		}
	}
	for _, s := range projectedSources {
		all = append(all, "volumes[].projected.sources[]."+s.field)
	}
	for _, s := range secretVolumes {
		all = append(all, "volumes[]."+s.volume+"."+s.field)
	}
	return all
}

// suspects walks a Kubernetes API type and returns the paths of all fields that may
// refer to a ConfigMap or Secret. What is embedded has the path of what embeds it.
func suspects(typ reflect.Type, path string) []string {
	var all []string
	add := func(paths ...string) {
		for _, p := range paths {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	for ; hasElem(typ); typ = typ.Elem() {
		if typ.Kind() != reflect.Pointer {
			path += "[]"
		}
	}
	if suspiciousType(typ) {
		add(path)
	}
	if typ.Kind() != reflect.Struct || typ.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" {
		return all // of times and labels
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		below := strings.TrimPrefix(path+"."+name, ".")
		if f.Anonymous && name == "" {
			below = path
		}
		if suspiciousName(name) || suspiciousName(f.Name) {
			at := below
			for t := f.Type; hasElem(t); t = t.Elem() {
				if t.Kind() != reflect.Pointer {
					at += "[]"
				}
			}
			add(at)
		}
		add(suspects(f.Type, below)...)
	}
	return all
}

func hasElem(typ reflect.Type) bool {
	k := typ.Kind()
	return k == reflect.Pointer || k == reflect.Slice || k == reflect.Map
}

func suspiciousType(typ reflect.Type) bool {
	name := typ.Name()
	if name == "LocalObjectReference" || name == "SecretReference" {
		return true
	}
	return slices.ContainsFunc([]string{"KeySelector", "EnvSource", "Projection"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

func suspiciousName(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "secret") || strings.Contains(name, "configmap")
}

// compareReferences returns what a type has and neither list names, and what the lists name and
// the type has not.
func compareReferences(typ reflect.Type, known []string, exceptions map[string]string) (unknown, gone []string) {
	found := suspects(typ, "")
	for _, path := range found {
		if _, excepted := exceptions[path]; !excepted && !slices.Contains(known, path) {
			unknown = append(unknown, path)
		}
	}
	for _, path := range known {
		if !slices.Contains(found, path) {
			gone = append(gone, path)
		}
	}
	for path := range exceptions {
		if !slices.Contains(found, path) {
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	return unknown, gone
}

// A new version of the Kubernetes API can't bring a reference that nobody looked at.
func TestReferenceTableIsComplete(t *testing.T) {
	unknown, gone := compareReferences(reflect.TypeFor[corev1.PodSpec](), knownReferences(), notReferences)
	for _, path := range unknown {
		t.Errorf("%s is neither in the reference tables nor among the exceptions", path)
	}
	for _, path := range gone {
		t.Errorf("%s is no field of a pod spec that may refer to a config object", path)
	}
	for path, reason := range notReferences {
		if reason == "" {
			t.Errorf("the exception %s has no reason", path)
		}
	}
}

// The walker finds what it is there for: every rule, through pointers, lists and
// embedded structs.
func TestReferenceTableTestCanFail(t *testing.T) {
	type LocalObjectReference struct {
		Name string `json:"name"`
	}
	type SecretReference struct{}
	type NewKeySelector struct{}
	type NewEnvSource struct {
		LocalObjectReference `json:",inline"`
	}
	type NewProjection struct{}
	type inner struct {
		NewEnvSource `json:",inline"`
		Harmless     string
	}
	type volume struct {
		Name      string                `json:"name"`
		ByRef     *LocalObjectReference `json:"byRef"`
		BySecret  *SecretReference      `json:"driver"`
		Selectors []NewKeySelector      `json:"selectors"`
		Projected *NewProjection        `json:"projected"`
		Token     string                `json:"clientSecret"`
		Maps      []string              `json:"fromConfigMaps"`
		Inner     *inner                `json:"inner"`
		Map       map[string]inner      `json:"byName"`
	}
	type podSpec struct {
		NodeName string   `json:"nodeName"`
		Volumes  []volume `json:"volumes"`
	}
	known := []string{"volumes[].byRef", "volumes[].missing"}
	exceptions := map[string]string{"volumes[].projected": "a reason", "volumes[].gone": "a reason"}
	unknown, gone := compareReferences(reflect.TypeFor[podSpec](), known, exceptions)
	if diff := cmp.Diff([]string{
		"volumes[].driver", "volumes[].selectors[]", "volumes[].clientSecret", "volumes[].fromConfigMaps[]",
		"volumes[].inner", "volumes[].byName[]",
	}, unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"volumes[].gone", "volumes[].missing"}, gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
}
