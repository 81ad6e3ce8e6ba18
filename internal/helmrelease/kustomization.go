package helmrelease

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// PatchFile is the file, beside a kustomization, with the stamps of its HelmRelease.
const PatchFile = "helm-checksum.yaml"

// IsPatchFile says whether a kustomization's patch file is one of ours.
func IsPatchFile(name string) bool {
	return name == PatchFile || strings.HasPrefix(name, "helm-checksum.") && strings.HasSuffix(name, ".yaml") && !strings.Contains(name, "/")
}

// A ReleasePatch lists a patch file for one HelmRelease in a kustomization.
type ReleasePatch struct {
	Path            string
	Name, Namespace string // of the HelmRelease as the patch meets it; an empty namespace matches any
}

func (p ReleasePatch) target() []field {
	t := Patch{Group: strings.TrimSuffix(group, "/"), Kind: "HelmRelease", Name: p.Name, Namespace: p.Namespace}
	return t.target()
}

func (p ReleasePatch) value() any {
	target := map[string]any{}
	for _, f := range p.target() {
		target[f.key] = f.value
	}
	return map[string]any{"path": p.Path, "target": target}
}

// SetPatches makes a kustomization list exactly these patch files of ours under patches,
// after all others. Everything else of it stays.
func SetPatches(kustomization []byte, patches []ReleasePatch) ([]byte, error) {
	docs, err := parse(kustomization, "")
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("it is empty")
	}
	d := docs[0]
	for _, other := range docs[1:] {
		if other.value != nil {
			return nil, fmt.Errorf("it has several documents")
		}
	}
	root, ok := d.value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is not a map")
	}
	change := listChange{mapping: d.root, key: "patches"}
	change.have, _ = root["patches"].([]any)
	var ours []any
	for i, p := range change.have {
		if path, _ := dig(p, "path").(string); IsPatchFile(path) {
			change.drop = append(change.drop, i)
			ours = append(ours, p)
		}
	}
	var flows []string
	for _, p := range patches {
		var target []string
		for _, f := range p.target() {
			target = append(target, f.key+": "+scalar(f.value))
		}
		change.lines = append(change.lines, "- path: "+scalar(p.Path), "  target: {"+strings.Join(target, ", ")+"}")
		change.added = append(change.added, p.value())
		flows = append(flows, flow(p.value()))
	}
	change.flow = strings.Join(flows, ", ")
	last := len(change.have) - len(ours)
	if slices.EqualFunc(ours, change.added, func(a, b any) bool { return reflect.DeepEqual(a, b) }) &&
		(len(change.drop) == 0 || change.drop[0] == last) {
		return kustomization, nil
	}
	if err := d.edit(change); err != nil {
		return nil, err
	}
	d.changes = append(d.changes, change.meaning(nil))
	return rewrite(kustomization, docs)
}

// PatchText is a JSON 6902 patch for a HelmRelease with these parsed post-renderers that
// appends the entry to them, entries of ours that are there taken out.
func PatchText(postRenderers []any, e Entry) []byte {
	lines := []string{Comment}
	left := len(postRenderers)
	for i, p := range slices.Backward(postRenderers) {
		if IsOurs(p) {
			lines = append(lines, "- op: remove", fmt.Sprintf("  path: /spec/postRenderers/%d", i))
			left--
		}
	}
	item := e.lines()[1:]
	if left == 0 && len(postRenderers) == 0 {
		lines = append(lines, "- op: add", "  path: /spec/postRenderers", "  value:")
		for _, l := range item {
			lines = append(lines, "    "+l)
		}
	} else {
		lines = append(lines, "- op: add", "  path: /spec/postRenderers/-", "  value:")
		for i, l := range item {
			if i == 0 {
				l = "  " + strings.TrimPrefix(l, "- ")
			}
			lines = append(lines, "  "+l)
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// PatchEntries are the entries of ours that a patch file appends.
func PatchEntries(patch []byte) ([]any, error) {
	docs, err := parse(patch, "")
	if err != nil {
		return nil, err
	}
	var entries []any
	for _, d := range docs {
		ops, _ := d.value.([]any)
		for _, op := range ops {
			switch v := dig(op, "value").(type) {
			case map[string]any:
				entries = append(entries, v)
			case []any:
				entries = append(entries, v...)
			}
		}
	}
	return slices.DeleteFunc(entries, func(e any) bool { return !IsOurs(e) }), nil
}

// SamePatch says whether two patch files mean the same: a formatter may have written one anew.
func SamePatch(a, b []byte) bool {
	x, errX := parse(a, "")
	y, errY := parse(b, "")
	return errX == nil && errY == nil && len(x) == 1 && len(y) == 1 && reflect.DeepEqual(x[0].value, y[0].value)
}
