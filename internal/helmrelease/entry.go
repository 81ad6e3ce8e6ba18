package helmrelease

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Comment stands before our entry in a file.
const Comment = "# Checksums of the configuration that the pods consume. Written by `flux checksum stamp`."

// stampKey is an annotation that we write (CONTRACT.md section 5). Controls, such as
// helm-checksum/ignore, are the user's: an entry that sets one is not ours.
var stampKey = regexp.MustCompile(`^helm-checksum/(configmap|secret)\.`)

// An Entry is our item of a HelmRelease's spec.postRenderers: the stamps of the
// release's workloads as kustomize patches.
type Entry struct {
	Patches []Patch // one for each workload
}

// A Patch sets and removes stamps of one object.
type Patch struct {
	Group, Version, Kind string
	Name                 string // as it is, not as a regular expression
	Namespace            string // empty matches every one
	Templates            []Template
}

// A Template is one pod template of the object.
type Template struct {
	// Path leads to it, dots between fields and [N] for an item of a list,
	// such as spec.template.
	Path string

	// Set holds the stamps that it gets, Remove the keys of those that it loses.
	Set    map[string]string
	Remove []string

	// Lacks says what the rendered object does not have at Path: "metadata",
	// "annotations" (of the metadata) or nothing. It matters inside lists only,
	// which a strategic merge patch of a custom resource would replace.
	Lacks string
}

// Empty says that there is nothing to stamp.
func (e Entry) Empty() bool { return len(e.Patches) == 0 }

// Value is the entry as it reads in spec.postRenderers once parsed.
func (e Entry) Value() map[string]any {
	patches := make([]any, 0, len(e.Patches))
	for _, p := range e.Patches {
		target := map[string]any{}
		for _, f := range p.target() {
			target[f.key] = f.value
		}
		patches = append(patches, map[string]any{"target": target, "patch": strings.Join(p.lines(), "\n") + "\n"})
	}
	return map[string]any{"kustomize": map[string]any{"patches": patches}}
}

// lines is the entry as an item of a block sequence, its dash in the first column.
func (e Entry) lines() []string {
	lines := []string{Comment, "- kustomize:", "    patches:"}
	for _, p := range e.Patches {
		var target []string
		for _, f := range p.target() {
			target = append(target, f.key+": "+scalar(f.value))
		}
		lines = append(lines,
			"      - target: {"+strings.Join(target, ", ")+"}",
			"        patch: |")
		for _, l := range p.lines() {
			lines = append(lines, "          "+l)
		}
	}
	return lines
}

// flow is the entry as an item of a flow sequence: JSON, which YAML is a superset of.
func (e Entry) flow() string { return flow(e.Value()) }

func flow(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // parsed YAML always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type field struct{ key, value string }

// target selects the object. Kustomize reads each field as an anchored regular
// expression (SelectorRegex in sigs.k8s.io/kustomize/api/types), and an empty group as any.
func (p Patch) target() []field {
	var fs []field
	for _, f := range []field{
		{"group", p.Group}, {"version", p.Version}, {"kind", p.Kind}, {"name", p.Name}, {"namespace", p.Namespace},
	} {
		if f.value != "" {
			fs = append(fs, field{f.key, regexp.QuoteMeta(f.value)})
		}
	}
	return fs
}

// lines is the patch's text: a strategic merge patch, or JSON 6902 operations where
// a pod template is inside a list.
func (p Patch) lines() []string {
	for _, t := range p.Templates {
		if strings.Contains(t.Path, "[") {
			return p.operations()
		}
	}
	apiVersion := p.Version
	if p.Group != "" {
		apiVersion = p.Group + "/" + p.Version
	}
	root := &tree{}
	root.at("apiVersion").value = scalar(apiVersion)
	root.at("kind").value = scalar(p.Kind)
	root.at("metadata", "name").value = scalar(p.Name)
	for _, t := range p.Templates {
		annotations := root.at(append(strings.Split(t.Path, "."), "metadata", "annotations")...)
		stamps := map[string]string{}
		for k, v := range t.Set {
			stamps[k] = scalar(v)
		}
		for _, k := range t.Remove {
			stamps[k] = "null"
		}
		for _, k := range slices.Sorted(maps.Keys(stamps)) {
			annotations.at(k).value = stamps[k]
		}
	}
	return root.lines("")
}

// A tree is a YAML mapping in the order in which its keys were first asked for.
type tree struct {
	key, value string
	children   []*tree
}

func (t *tree) at(path ...string) *tree {
	for _, key := range path {
		i := slices.IndexFunc(t.children, func(c *tree) bool { return c.key == key })
		if i < 0 {
			i = len(t.children)
			t.children = append(t.children, &tree{key: key})
		}
		t = t.children[i]
	}
	return t
}

func (t *tree) lines(indent string) []string {
	var lines []string
	for _, c := range t.children {
		if len(c.children) == 0 {
			lines = append(lines, indent+scalar(c.key)+": "+c.value)
			continue
		}
		lines = append(lines, indent+scalar(c.key)+":")
		lines = append(lines, c.lines(indent+"  ")...)
	}
	return lines
}

// operations is the patch as JSON 6902 operations.
func (p Patch) operations() []string {
	var lines []string
	add := func(op, path, value string) {
		lines = append(lines, "- op: "+op, "  path: "+scalar(path))
		if op != "remove" {
			lines = append(lines, "  value: "+value)
		}
	}
	for _, t := range p.Templates {
		base := pointer(t.Path)
		if t.Lacks != "" && len(t.Set) == 0 {
			continue
		}
		switch t.Lacks {
		case "metadata":
			add("add", base+"/metadata", flow(map[string]any{"annotations": t.Set}))
			continue
		case "annotations":
			add("add", base+"/metadata/annotations", flow(t.Set))
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(t.Set)) {
			add("add", base+"/metadata/annotations/"+escapePointer(k), scalar(t.Set[k]))
		}
		for _, k := range slices.Sorted(slices.Values(t.Remove)) {
			add("remove", base+"/metadata/annotations/"+escapePointer(k), "")
		}
	}
	return lines
}

// pointer turns spec.pools[0].template into the JSON pointer /spec/pools/0/template.
func pointer(path string) string {
	var b strings.Builder
	for f := range strings.SplitSeq(strings.NewReplacer("[", ".", "]", "").Replace(path), ".") {
		if f != "" {
			b.WriteString("/" + escapePointer(f))
		}
	}
	return b.String()
}

// escapePointer escapes a key for a JSON pointer (RFC 6901).
func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./\\^$~+][A-Za-z0-9_./\\^$~+-]*$`)

// scalar writes a string so that it is one to every reader of YAML, plain where
// that is certain, in a flow mapping too.
func scalar(s string) string {
	if plain.MatchString(s) {
		var v any
		if err := yaml.Unmarshal([]byte(s), &v); err == nil && v == s && !looksLikeNumber(s) {
			return s
		}
	}
	return flow(s)
}

// looksLikeNumber says that YAML 1.1 and 1.2 readers may disagree on s being a number.
func looksLikeNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return err == nil
}

// A Stamp is one annotation that an entry sets or removes.
type Stamp struct {
	// Target selects the object, as written in the entry: regular expressions.
	Group, Version, Kind, Name, Namespace string

	Template   string // the pod template's path, such as spec.template
	Annotation string
	Checksum   string // empty if Removed
	Removed    bool
}

// Key is the stamp without its checksum: what it is about.
func (s Stamp) Key() Stamp {
	s.Checksum, s.Removed = "", false
	return s
}

// Compare orders stamps by what they are about.
func (s Stamp) Compare(o Stamp) int {
	return cmp.Or(
		cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.Namespace, o.Namespace), cmp.Compare(s.Name, o.Name),
		cmp.Compare(s.Group, o.Group), cmp.Compare(s.Version, o.Version),
		cmp.Compare(s.Template, o.Template), cmp.Compare(s.Annotation, o.Annotation))
}

// IsOurs says whether a parsed item of spec.postRenderers is an entry of ours: one
// whose patches, all of them, set nothing but helm-checksum/ annotations on pod templates.
func IsOurs(entry any) bool {
	_, ok := Stamps(entry)
	return ok
}

// Stamps reads a parsed item of spec.postRenderers. It returns false if it is not ours.
func Stamps(entry any) ([]Stamp, bool) {
	patches, ok := dig(entry, "kustomize", "patches").([]any)
	if !ok || len(patches) == 0 || len(entry.(map[string]any)) != 1 || len(dig(entry, "kustomize").(map[string]any)) != 1 {
		return nil, false
	}
	var stamps []Stamp
	for _, p := range patches {
		s, err := patchStamps(p)
		if err != nil {
			return nil, false
		}
		stamps = append(stamps, s...)
	}
	return stamps, true
}

func dig(v any, path ...string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// patchStamps reads one patch of an entry; an error says that it is not ours.
func patchStamps(patch any) ([]Stamp, error) {
	m, _ := patch.(map[string]any)
	target, _ := m["target"].(map[string]any)
	text, _ := m["patch"].(string)
	var stamp Stamp
	for _, f := range []struct {
		key string
		to  *string
	}{
		{"group", &stamp.Group}, {"version", &stamp.Version}, {"kind", &stamp.Kind},
		{"name", &stamp.Name}, {"namespace", &stamp.Namespace},
	} {
		*f.to, _ = target[f.key].(string)
	}
	var body any
	if err := yaml.Unmarshal([]byte(text), &body); err != nil {
		return nil, err
	}
	var stamps []Stamp
	var err error
	switch body := body.(type) {
	case map[string]any:
		err = mergeStamps(body, nil, stamp, &stamps)
	case []any:
		err = operationStamps(body, stamp, &stamps)
	}
	if err != nil {
		return nil, err
	}
	if len(stamps) == 0 {
		return nil, fmt.Errorf("sets nothing")
	}
	return stamps, nil
}

// mergeStamps reads a strategic merge patch.
func mergeStamps(body map[string]any, path []string, stamp Stamp, out *[]Stamp) error {
	for key, v := range body {
		m, ok := v.(map[string]any)
		switch {
		case len(path) == 0 && (key == "apiVersion" || key == "kind"):
		case len(path) == 0 && key == "metadata":
			for k := range m {
				if k != "name" && k != "namespace" {
					return fmt.Errorf("sets metadata.%s", k)
				}
			}
		case key == "metadata" && ok:
			stamp.Template = strings.Join(path, ".")
			if err := annotationStamps(m, stamp, out); err != nil {
				return err
			}
		case ok && len(m) > 0:
			if err := mergeStamps(m, append(slices.Clip(path), key), stamp, out); err != nil {
				return err
			}
		default:
			return fmt.Errorf("sets %s", strings.Join(append(path, key), "."))
		}
	}
	return nil
}

// annotationStamps reads a pod template's metadata, which must hold annotations of ours only.
func annotationStamps(metadata map[string]any, stamp Stamp, out *[]Stamp) error {
	annotations, _ := metadata["annotations"].(map[string]any)
	if len(metadata) != 1 || len(annotations) == 0 {
		return fmt.Errorf("sets more than annotations")
	}
	for k, v := range annotations {
		if err := addStamp(stamp, k, v, v == nil, out); err != nil {
			return err
		}
	}
	return nil
}

func addStamp(stamp Stamp, annotation string, value any, removed bool, out *[]Stamp) error {
	s, ok := value.(string)
	if !stampKey.MatchString(annotation) || !ok && !removed {
		return fmt.Errorf("sets %s", annotation)
	}
	stamp.Annotation, stamp.Checksum, stamp.Removed = annotation, s, removed
	*out = append(*out, stamp)
	return nil
}

// operationStamps reads JSON 6902 operations.
func operationStamps(ops []any, stamp Stamp, out *[]Stamp) error {
	for _, o := range ops {
		op, _ := dig(o, "op").(string)
		path, _ := dig(o, "path").(string)
		value := dig(o, "value")
		i := strings.LastIndex(path, "/metadata")
		if i <= 0 || op != "add" && op != "replace" && op != "remove" {
			return fmt.Errorf("%s of %s", op, path)
		}
		stamp.Template = fromPointer(path[:i])
		key, isKey := strings.CutPrefix(path[i:], "/metadata/annotations/")
		metadata, _ := value.(map[string]any)
		if path[i:] == "/metadata/annotations" {
			metadata = map[string]any{"annotations": value}
		} else if path[i:] != "/metadata" && !isKey {
			return fmt.Errorf("%s of %s", op, path)
		}
		var err error
		if isKey {
			key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
			err = addStamp(stamp, key, value, op == "remove", out)
		} else {
			err = annotationStamps(metadata, stamp, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fromPointer is the inverse of pointer.
func fromPointer(p string) string {
	var b strings.Builder
	for f := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		if _, err := strconv.Atoi(f); err == nil {
			b.WriteString("[" + f + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strings.NewReplacer("~1", "/", "~0", "~").Replace(f))
	}
	return b.String()
}

// normal is a parsed entry with its patches' texts parsed too, to be compared:
// a formatter may have written them in another way.
func normal(entry any) any {
	patches, _ := dig(entry, "kustomize", "patches").([]any)
	out := make([]any, 0, len(patches))
	for _, p := range patches {
		m, _ := p.(map[string]any)
		m = maps.Clone(m)
		if text, ok := m["patch"].(string); ok {
			var body any
			if yaml.Unmarshal([]byte(text), &body) == nil {
				m["patch"] = body
			}
		}
		out = append(out, m)
	}
	return out
}
