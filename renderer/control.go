package renderer

import (
	"fmt"
	"slices"
	"strings"
)

// The annotations that control us, and those that we write (CONTRACT.md sections 5
// and 6; the versions are the cluster policy's).
const (
	annotationPrefix = "helm-checksum/"
	skipControl      = annotationPrefix + "skip"
	ignoreControl    = annotationPrefix + "ignore"
	consumesControl  = annotationPrefix + "consumes"
	stampControl     = annotationPrefix + "stamp"

	stampConfigMap   = annotationPrefix + "configmap."
	stampSecret      = annotationPrefix + "secret."
	versionConfigMap = annotationPrefix + "configmap-version."
	versionSecret    = annotationPrefix + "secret-version."
)

var (
	workloadControls = []string{skipControl, ignoreControl, consumesControl, stampControl}
	configControls   = []string{skipControl}
	writtenNames     = []string{stampConfigMap, stampSecret, versionConfigMap, versionSecret}
)

// controls is what the annotations of a workload ask for.
type controls struct {
	skip     bool
	stamp    bool
	ignore   []pattern
	consumes []object
}

// read takes the controls among the annotations of one metadata.
func (c *controls) read(t *tree, metadata int32, known []string) error {
	annotations := t.at(metadata, "annotations")
	if annotations == 0 || t.nodes[annotations].kind != mapping {
		return nil
	}
	for a := range t.children(annotations) {
		name, ours := strings.CutPrefix(string(t.nodes[a].key), annotationPrefix)
		if !ours {
			continue
		}
		name = annotationPrefix + name
		if slices.ContainsFunc(writtenNames, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		if !slices.Contains(known, name) {
			if slices.Contains(workloadControls, name) {
				return fmt.Errorf("annotation %s has no effect here, only on workloads; known here: %s", name, strings.Join(known, ", "))
			}
			return fmt.Errorf("unknown annotation %s; the nearest known one is %s", quote(name), nearest(name, known))
		}
		if t.nodes[a].kind != text {
			return fmt.Errorf("annotation %s is %s, want a string in quotes", name, t.nodes[a].kind)
		}
		if err := c.set(name, string(t.textOf(a))); err != nil {
			return fmt.Errorf("annotation %s: %w", name, err)
		}
	}
	return nil
}

func (c *controls) set(name, value string) error {
	switch name {
	case skipControl, stampControl:
		if value != "true" && value != "false" {
			return fmt.Errorf(`%s, want "true" or "false"`, quote(value))
		}
		if name == skipControl {
			c.skip = c.skip || value == "true"
		} else {
			c.stamp = c.stamp || value == "true"
		}
	case ignoreControl:
		for _, item := range splitList(value) {
			p, err := parseReference(item)
			if err != nil {
				return err
			}
			c.ignore = append(c.ignore, p)
		}
	case consumesControl:
		for _, item := range splitList(value) {
			o, err := parseObject(item)
			if err != nil {
				return err
			}
			c.consumes = append(c.consumes, o)
		}
	}
	return nil
}

// splitList splits a comma-separated list; white space around the items is no part of them.
func splitList(s string) []string {
	items := strings.Split(s, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// configKind takes the configmap or secret of a list's item.
func configKind(word string) (string, bool) {
	switch strings.ToLower(word) {
	case "configmap":
		return configMapKind, true
	case "secret":
		return secretKind, true
	}
	return "", false
}

// A pattern matches objects by kind and name; * in the name matches any text.
type pattern struct {
	kind string // lower case for workloads; "" matches any
	name string
}

// parseReference reads "configmap/flags" or "secret/tls-*".
func parseReference(s string) (pattern, error) {
	word, name, ok := strings.Cut(s, "/")
	kind, known := configKind(word)
	if !ok || !known || !validName(name, true) {
		return pattern{}, fmt.Errorf("%s, want configmap/NAME or secret/NAME", quote(s))
	}
	return pattern{kind, name}, nil
}

// parseObject reads "configmap/dashboards" or "secret/other-namespace/ca".
func parseObject(s string) (object, error) {
	word, rest, ok := strings.Cut(s, "/")
	kind, known := configKind(word)
	namespace, name, two := strings.Cut(rest, "/")
	if !two {
		namespace, name = "", rest
	}
	if !ok || !known || !validName(name, false) || two && !validName(namespace, false) {
		return object{}, fmt.Errorf("%s, want configmap/NAME, secret/NAME or either with NAMESPACE/NAME", quote(s))
	}
	return object{kind, namespace, name}, nil
}

// validName refuses what no object can be called: a list that was not read as meant.
func validName(name string, wildcard bool) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '.' && c != '_' && (c != '*' || !wildcard) {
			return false
		}
	}
	return true
}

// match says whether a name fits a pattern in which * stands for any text. It takes
// time in proportion to the name times the pattern's stars.
func match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// A selector is a --skip or --ignore of the user's: what it says of an object.
type selector struct {
	workload *pattern // nil: any workload
	pattern  pattern
}

// parseSkip reads KIND/NAME.
func parseSkip(s string) (pattern, error) {
	kind, name, ok := strings.Cut(s, "/")
	if !ok || kind == "" || !validName(kind, false) || !validName(name, true) {
		return pattern{}, fmt.Errorf("skip %s: want KIND/NAME, such as deployment/web or configmap/flags-*", quote(s))
	}
	return pattern{strings.ToLower(kind), name}, nil
}

// parseIgnore reads [KIND/NAME:]configmap/NAME or [KIND/NAME:]secret/NAME.
func parseIgnore(s string) (selector, error) {
	workload, reference, ok := strings.Cut(s, ":")
	if !ok {
		workload, reference = "", s
	}
	var sel selector
	var err error
	if sel.pattern, err = parseReference(reference); err != nil {
		return selector{}, fmt.Errorf("ignore %s: %w", quote(s), err)
	}
	if ok {
		p, err := parseSkip(workload)
		if err != nil {
			return selector{}, fmt.Errorf("ignore %s: want KIND/NAME before the colon", quote(s))
		}
		sel.workload = &p
	}
	return sel, nil
}

// nearest returns the known name with the fewest edits from a name.
func nearest(name string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := distance(name, k); least < 0 || d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance, of names cut to a length that bounds it.
func distance(a, b string) int {
	const most = 100
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
