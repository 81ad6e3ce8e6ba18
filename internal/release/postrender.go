package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"helm.sh/helm/v4/pkg/action"
	helmpostrender "helm.sh/helm/v4/pkg/postrenderer"
	//lint:ignore SA1019 what helm-controller runs; there is no other way to these transformers
	"sigs.k8s.io/kustomize/api/builtins"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
)

// A postRenderer is one entry of spec.postRenderers; the fields of all API versions.
type postRenderer struct {
	Kustomize *kustomizeRenderer `json:"kustomize"`
}

type kustomizeRenderer struct {
	Patches []patch          `json:"patches"`
	Images  []kustypes.Image `json:"images"`

	// Of v2beta1 and v2beta2.
	PatchesStrategicMerge []json.RawMessage `json:"patchesStrategicMerge"`
	PatchesJSON6902       []struct {
		Patch  json.RawMessage `json:"patch"`
		Target *selector       `json:"target"`
	} `json:"patchesJson6902"`
}

type patch struct {
	Patch  string    `json:"patch"`
	Target *selector `json:"target"`
}

type selector struct {
	Group              string `json:"group"`
	Version            string `json:"version"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	Namespace          string `json:"namespace"`
	AnnotationSelector string `json:"annotationSelector"`
	LabelSelector      string `json:"labelSelector"`
}

func (s *selector) kustomize() *kustypes.Selector {
	if s == nil {
		return nil
	}
	k := &kustypes.Selector{AnnotationSelector: s.AnnotationSelector, LabelSelector: s.LabelSelector}
	k.Group, k.Version, k.Kind, k.Name, k.Namespace = s.Group, s.Version, s.Kind, s.Name, s.Namespace
	return k
}

// kustomizeLock guards kustomize, which is not safe for concurrent use
// (https://github.com/kubernetes-sigs/kustomize/issues/3659); helm-controller has one too.
var kustomizeLock sync.Mutex

// build runs kustomize with the options that helm-controller pins.
func build(files filesys.FileSystem, dir string) ([]byte, error) {
	kustomizeLock.Lock()
	defer kustomizeLock.Unlock()
	result, err := krusty.MakeKustomizer(&krusty.Options{
		LoadRestrictions: kustypes.LoadRestrictionsNone,
		PluginConfig:     kustypes.DisabledPluginConfig(),
	}).Run(files, dir)
	if err != nil {
		return nil, err
	}
	return result.AsYaml()
}

// Run applies the entry to a stream.
func (k *kustomizeRenderer) Run(stream *bytes.Buffer) (*bytes.Buffer, error) {
	const input = "helm-output.yaml"
	config := kustypes.Kustomization{
		TypeMeta:  kustypes.TypeMeta{APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind},
		Resources: []string{input},
		Images:    k.Images,
	}
	for _, p := range k.Patches {
		config.Patches = append(config.Patches, kustypes.Patch{Patch: p.Patch, Target: p.Target.kustomize()})
	}
	for _, p := range k.PatchesStrategicMerge {
		config.Patches = append(config.Patches, kustypes.Patch{Patch: string(p)})
	}
	for _, p := range k.PatchesJSON6902 {
		config.Patches = append(config.Patches, kustypes.Patch{Patch: string(p.Patch), Target: p.Target.kustomize()})
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	files := filesys.MakeFsInMemory()
	if err := files.WriteFile(input, stream.Bytes()); err != nil {
		return nil, err
	}
	if err := files.WriteFile(kustomizationNames[0], text); err != nil {
		return nil, err
	}
	result, err := build(files, ".")
	if err != nil {
		return nil, err
	}
	return bytes.NewBuffer(result), nil
}

// metadataRenderer sets labels and annotations on every object, as helm-controller does
// for spec.commonMetadata and for the labels that say where an object comes from.
type metadataRenderer commonMetadata

func (m *metadataRenderer) Run(stream *bytes.Buffer) (*bytes.Buffer, error) {
	if m.Labels == nil && m.Annotations == nil {
		return stream, nil
	}
	kustomizeLock.Lock()
	defer kustomizeLock.Unlock()
	resources, err := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()).NewResMapFromBytes(stream.Bytes())
	if err != nil {
		return nil, err
	}
	if m.Labels != nil {
		transformer := builtins.LabelTransformerPlugin{
			Labels:     m.Labels,
			FieldSpecs: []kustypes.FieldSpec{{Path: "metadata/labels", CreateIfNotPresent: true}},
		}
		if err := transformer.Transform(resources); err != nil {
			return nil, err
		}
	}
	if m.Annotations != nil {
		transformer := builtins.AnnotationsTransformerPlugin{
			Annotations: m.Annotations,
			FieldSpecs:  []kustypes.FieldSpec{{Path: "metadata/annotations", CreateIfNotPresent: true}},
		}
		if err := transformer.Transform(resources); err != nil {
			return nil, err
		}
	}
	result, err := resources.AsYaml()
	if err != nil {
		return nil, err
	}
	return bytes.NewBuffer(result), nil
}

// A step is one post-renderer of the chain, with the field it comes from.
type step struct {
	field    string
	renderer helmpostrender.PostRenderer
}

// chain is all that helm-controller runs after Helm, in its order, our own entry left
// out and extra, when there is one, at the end of spec.postRenderers.
func (r *Release) chain(extra map[string]any) ([]step, error) {
	var steps []step
	entries, _ := r.Object["spec"].(map[string]any)
	raw, _ := entries["postRenderers"].([]any)
	for i, entry := range r.spec.PostRenderers {
		if entry.Kustomize == nil || i < len(raw) && helmrelease.IsOurs(raw[i]) {
			continue
		}
		steps = append(steps, step{fmt.Sprintf("spec.postRenderers[%d]", i), entry.Kustomize})
	}
	if extra != nil {
		var entry postRenderer
		if err := decode(extra, &entry); err != nil {
			return nil, fmt.Errorf("post-renderer%w", err)
		}
		if entry.Kustomize != nil {
			steps = append(steps, step{"the added post-renderer", entry.Kustomize})
		}
	}
	if m := r.spec.CommonMetadata; m != nil {
		steps = append(steps, step{"spec.commonMetadata", (*metadataRenderer)(m)})
	}
	origin := &metadataRenderer{Labels: map[string]string{
		helmReleaseGroup + "/name":      r.Name,
		helmReleaseGroup + "/namespace": r.Namespace,
	}}
	return append(steps, step{"", origin}), nil
}

// pipeline runs steps one after the other.
type pipeline []step

func (p pipeline) Run(stream *bytes.Buffer) (*bytes.Buffer, error) {
	for i, s := range p {
		before := bytes.Clone(stream.Bytes())
		after, err := s.renderer.Run(stream)
		if err != nil {
			if i == 0 { // as the chart rendered it
				if refused := refusedObject(before); refused != nil {
					return nil, refused
				}
			}
			if s.field == "" {
				return nil, err
			}
			return nil, &fieldError{field: s.field, err: err}
		}
		stream = after
	}
	return stream, nil
}

// ApplyPostRenderers gives a stream that Helm rendered to the release's post-renderers,
// as helm-controller does: those of spec.postRenderers that are not ours, extraEntry (an
// entry for the end of spec.postRenderers; may be nil), commonMetadata, and Flux's
// labels of origin.
func (r *Release) ApplyPostRenderers(stream []byte, extraEntry map[string]any) ([]byte, error) {
	steps, err := r.chain(extraEntry)
	if err != nil {
		return nil, r.wrap(err)
	}
	result, err := pipeline(steps).Run(bytes.NewBuffer(bytes.Clone(stream)))
	if err != nil {
		return nil, r.wrap(err)
	}
	return result.Bytes(), nil
}

// strategyOf reads a post-render strategy; empty is Helm 4's default.
func strategyOf(name string) (action.PostRenderStrategy, error) {
	known := []action.PostRenderStrategy{
		action.PostRenderStrategyCombined, action.PostRenderStrategySeparate, action.PostRenderStrategyNoHooks,
	}
	if name == "" {
		return action.PostRenderStrategyCombined, nil
	}
	if s := action.PostRenderStrategy(name); slices.Contains(known, s) {
		return s, nil
	}
	return "", fmt.Errorf("post-render strategy %q is not known; known are combined, separate and nohooks", name)
}
