package renderer

import (
	"bytes"
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

// A controlError is what is wrong with a control, and the node of its value.
type controlError struct {
	node int32
	err  error
}

func (e *controlError) Error() string { return e.err.Error() }

func (e *controlError) Unwrap() error { return e.err }

// read takes the controls among the annotations of one metadata.
func (c *controls) read(t *tree, metadata int32, known []string) error {
	annotations := t.at(metadata, "annotations")
	if annotations == 0 || t.nodes[annotations].kind != mapping {
		return nil
	}
	var ours []int32
	last := make(map[string]int32) // of a key that is there twice the last one counts
	for a := range t.children(annotations) {
		name := t.nodes[a].key
		if !bytes.HasPrefix(name, []byte(annotationPrefix)) ||
			slices.ContainsFunc(writtenNames, func(p string) bool { return bytes.HasPrefix(name, []byte(p)) }) {
			continue
		}
		ours = append(ours, a)
		last[string(name)] = a
	}
	for _, a := range ours {
		name := string(t.nodes[a].key)
		if last[name] != a {
			continue
		}
		fail := func(format string, args ...any) error {
			return &controlError{a, fmt.Errorf(format, args...)}
		}
		if !slices.Contains(known, name) {
			if slices.Contains(workloadControls, name) {
				return fail("annotation %s has no effect here, only on workloads; known here: %s", name, strings.Join(known, ", "))
			}
			return fail("unknown annotation %s; the nearest known one is %s", quote(name), nearest(name, known))
		}
		if t.nodes[a].kind != text {
			return fail("annotation %s is %s, want a string in quotes", name, t.nodes[a].kind)
		}
		if err := c.set(name, string(t.textOf(a))); err != nil {
			return fail("annotation %s: %w", name, err)
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
		odd := 0
		for _, item := range splitList(value) {
			p, err := parseReference(item)
			if err != nil {
				return err
			}
			c.ignore = append(c.ignore, p)
			if i := strings.IndexByte(p.name, '*'); i >= 0 && i < len(p.name)-1 {
				if odd++; odd > maxOddPatterns {
					return fmt.Errorf("more than %d references have a * that is not their end", maxOddPatterns)
				}
			}
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

// maxOddPatterns bounds the patterns that each reference of a workload is held against
// one by one; see patterns.
const maxOddPatterns = 1000

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
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	end := strings.LastIndexByte(rest, '*')
	last := rest[end+1:]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	if end < 0 {
		return true
	}
	name = name[len(first) : len(name)-len(last)]
	for part := range strings.SplitSeq(rest[:end], "*") {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// patterns is a list of patterns against which many names are held.
type patterns struct {
	whole    map[pattern]bool
	prefixes map[pattern]bool // that end in their only *, without it
	lengths  []int            // of prefixes, ascending
	odd      []pattern
}

func newPatterns(list []pattern) *patterns {
	s := &patterns{whole: make(map[pattern]bool), prefixes: make(map[pattern]bool)}
	for _, p := range list {
		switch i := strings.IndexByte(p.name, '*'); {
		case i < 0:
			s.whole[p] = true
		case i == len(p.name)-1:
			s.prefixes[pattern{p.kind, p.name[:i]}] = true
			s.lengths = append(s.lengths, i)
		default:
			s.odd = append(s.odd, p)
		}
	}
	slices.Sort(s.lengths)
	s.lengths = slices.Compact(s.lengths)
	return s
}

// match says whether one of the patterns matches an object.
func (s *patterns) match(kind, name string) bool {
	if s.whole[pattern{kind, name}] {
		return true
	}
	for _, n := range s.lengths {
		if n > len(name) {
			break
		}
		if s.prefixes[pattern{kind, name[:n]}] {
			return true
		}
	}
	return slices.ContainsFunc(s.odd, func(p pattern) bool { return p.kind == kind && match(p.name, name) })
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
