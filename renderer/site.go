package renderer

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// A site is where the stamps of one pod template are written, or would be: all that
// is needed to change them, without the document's tree. Style, indentation and
// line ends follow the place.
type site struct {
	flow bool
	eol  string

	// New stamps go to at, between head and tail. In block style each is a line
	// behind indent; in flow style a separator stands behind each.
	at         int
	head, tail string
	indent     string
	separator  string
	inline     bool // at is behind something on its line, such as the dash of a list
	unended    bool // at is the end of a last line that has no line break

	// gap is what gives way to new stamps besides: a null, "" or alias in their place.
	gap span

	// written are the entries of the annotations map as it stands, in its order.
	written []writtenEntry
	colon   int // just past the annotations key, where {} goes when a block map is emptied
}

type span struct{ start, end int }

// A writtenEntry is an entry of an annotations map in the stream.
type writtenEntry struct {
	key   string // empty unless it is a stamp
	entry span   // from its key to the end of its value; the end is -1 if not known
	value span
}

// A locator finds a site.
type locator struct {
	stream []byte
	t      *tree // of places
	s      *site
}

// locate finds the site of a pod template in a tree of places; false if the
// document's form leaves none. The values of the template, which may be the same
// tree, are for what only a reader knows: what an alias stands for.
func (s *site) locate(stream []byte, places *tree, template int32, values *tree, valuesTemplate int32) bool {
	*s = site{eol: "\n", written: s.written[:0]}
	if template == 0 || places.nodes[template].kind != mapping {
		return false
	}
	l := locator{stream: stream, t: places, s: s}
	metadata := places.get(template, "metadata")
	annotations := places.get(metadata, "annotations")
	switch {
	case metadata == 0:
		return l.missing(template, "metadata", "annotations")
	case places.nodes[metadata].kind == alias:
		return false
	case places.nodes[metadata].kind != mapping:
		return l.empty(template, metadata, "annotations")
	case annotations == 0:
		return l.missing(metadata, "annotations")
	case places.nodes[annotations].kind == alias:
		return l.alias(metadata, annotations, values, values.at(valuesTemplate, "metadata", "annotations"))
	case places.nodes[annotations].kind != mapping:
		return l.empty(metadata, annotations)
	}
	return l.existing(annotations)
}

// lineStart returns the offset of the start of the line that holds an offset.
func (l *locator) lineStart(at int) int { return bytes.LastIndexByte(l.stream[:at], '\n') + 1 }

// lineAfter returns the offset just past the line that holds an offset, and whether
// the line ends with a break.
func (l *locator) lineAfter(at int) (int, bool) {
	if i := bytes.IndexByte(l.stream[at:], '\n'); i >= 0 {
		return at + i + 1, true
	}
	return len(l.stream), false
}

// column returns how many characters precede an offset on its line.
func (l *locator) column(at int) int {
	return len([]rune(string(bytes.TrimPrefix(l.stream[l.lineStart(at):at], bom))))
}

// indented says whether only spaces precede an offset on its line. It looks at no
// more of the line than that: a line may hold a thousand workloads.
func (l *locator) indented(at int) bool {
	before := bytes.TrimRight(l.stream[:at], " ")
	before = bytes.TrimSuffix(before, bom)
	return len(before) == 0 || before[len(before)-1] == '\n'
}

func (l *locator) setEOL(at int) {
	if after, ok := l.lineAfter(at); ok && after >= 2 && l.stream[after-2] == '\r' {
		l.s.eol = "\r\n"
	}
}

// step returns how far the entries of a mapping are indented from its key.
func (l *locator) step(mapping int32) int {
	const usual = 2
	d := &l.t.nodes[mapping]
	if d.keyStart < 0 || d.style == flow || d.first == 0 {
		return usual
	}
	if step := l.column(l.t.nodes[d.first].keyStart) - l.column(d.keyStart); step > 0 {
		return step
	}
	return usual
}

// pastKey returns the offset just past the colon behind a key; -1 if it is not there.
func (l *locator) pastKey(n int32) int {
	d := &l.t.nodes[n]
	if d.keyStart < 0 {
		return -1
	}
	i := d.keyStart
	if c := l.stream[i]; c == '"' || c == '\'' {
		if i = scalarEnd(l.stream, i, &node{value: value{style: quoted}}); i < 0 {
			return -1
		}
	} else {
		i += len(d.key)
	}
	for i < len(l.stream) && l.stream[i] == ' ' {
		i++
	}
	if i >= len(l.stream) || l.stream[i] != ':' {
		return -1
	}
	return i + 1
}

// merges says whether a mapping takes entries from another by a merge key: what is
// not written in it may be there all the same.
func (l *locator) merges(n int32) bool { return l.t.get(n, "<<") != 0 }

// open finds where a new first entry of a mapping goes. In block style that is the
// line after the mapping's key, before comments, or, where the mapping begins on
// its key's line, as in a list, just before the first entry.
func (l *locator) open(n int32) bool {
	d := &l.t.nodes[n]
	if d.first != 0 && l.t.nodes[d.first].keyStart < 0 {
		return false
	}
	first := l.t.nodes[d.first].keyStart
	if d.style == flow {
		l.s.flow = true
		l.s.at = d.start + 1
		l.s.separator = ", "
		if d.first == 0 {
			return true
		}
		l.s.at = first
		if l.indented(first) {
			l.setEOL(d.start)
			l.s.separator = "," + l.s.eol + strings.Repeat(" ", l.column(first))
		}
		return true
	}
	if d.first == 0 {
		return false
	}
	l.s.indent = strings.Repeat(" ", l.column(first))
	if d.keyStart >= 0 {
		if after, ok := l.lineAfter(d.keyStart); ok && l.lineStart(first) >= after {
			if !l.indented(first) {
				return false
			}
			l.setEOL(d.keyStart)
			l.s.at = after
			return true
		}
	}
	l.setEOL(first)
	l.s.at = first
	l.s.inline = true
	return true
}

// missing prepares new maps, one in the other, in a mapping that lacks them.
func (l *locator) missing(parent int32, keys ...string) bool {
	if l.merges(parent) || !l.open(parent) {
		return false
	}
	if l.s.flow {
		for _, key := range keys {
			l.s.head += quote(key) + ": {"
		}
		l.s.tail = strings.Repeat("}", len(keys))
		if l.t.nodes[parent].first != 0 {
			l.s.tail += l.s.separator
		}
		l.s.separator = ", "
		return true
	}
	if l.s.inline {
		l.s.tail = l.s.indent
	}
	l.nest(keys, l.s.indent, l.step(parent))
	return true
}

// nest heads new stamps by the keys of new block maps.
func (l *locator) nest(keys []string, indent string, step int) {
	for i, key := range keys {
		if i > 0 || !l.s.inline {
			l.s.head += indent
		}
		l.s.head += key + ":" + l.s.eol
		indent += strings.Repeat(" ", step)
	}
	l.s.indent = indent
}

// empty prepares a map, and further ones in it, in place of a value that holds nothing.
func (l *locator) empty(parent, n int32, keys ...string) bool {
	if !emptyValue(l.t, n) || l.t.nodes[n].anchored {
		return false
	}
	past := l.pastKey(n)
	if past < 0 {
		return false
	}
	end := past
	if d := &l.t.nodes[n]; d.kind != null || d.end > d.start {
		if end = d.end; end < past {
			return false
		}
	}
	return l.replace(parent, n, past, end, keys)
}

// replace prepares a map in place of what stands between a key and an offset.
func (l *locator) replace(parent, n int32, past, end int, keys []string) bool {
	if l.t.nodes[parent].style == flow {
		l.s.flow, l.s.separator = true, ", "
		l.s.gap = span{past, end}
		l.s.at = end
		l.s.head = " {"
		for _, key := range keys {
			l.s.head += quote(key) + ": {"
		}
		l.s.tail = strings.Repeat("}", 1+len(keys))
		return true
	}
	step := l.step(parent)
	l.setEOL(past)
	after, ended := l.lineAfter(end)
	if start := l.t.nodes[n].start; end > past && len(bytes.TrimSpace(l.stream[past:start])) > 0 {
		return false // a comment or a tag would be lost
	}
	l.s.gap = span{past, end}
	l.s.at = after
	if !ended {
		l.s.head = l.s.eol
	}
	l.nest(keys, strings.Repeat(" ", l.column(l.t.nodes[n].keyStart)+step), step)
	l.s.unended = !ended
	return true
}

// alias prepares a map of its own in place of an alias, with all that it stands for.
func (l *locator) alias(parent, n int32, values *tree, annotations int32) bool {
	past := l.pastKey(n)
	if past < 0 || !l.replace(parent, n, past, l.t.nodes[n].end, nil) || values.nodes[annotations].kind != mapping {
		return false
	}
	for a := range values.children(annotations) {
		d := &values.nodes[a]
		if isStamp(d.key) {
			continue
		}
		value := string(d.text)
		switch d.kind {
		case text:
			value = quote(value)
		case null:
			value = "null"
		}
		entry := quote(string(d.key)) + ": " + value
		if l.s.flow {
			l.s.head += entry + l.s.separator
		} else {
			l.s.head += l.s.indent + entry + l.s.eol
		}
	}
	return true
}

// existing takes the entries of an annotations map as it stands.
func (l *locator) existing(n int32) bool {
	if l.t.nodes[n].first == 0 && l.t.nodes[n].style != flow || !l.open(n) || l.s.inline {
		return false
	}
	l.s.colon = l.pastKey(n)
	last := make(map[string]int)
	for a := range l.t.children(n) {
		d := &l.t.nodes[a]
		w := writtenEntry{entry: span{d.keyStart, d.end}, value: span{d.start, d.end}}
		if isStamp(d.key) {
			w.key = string(d.key)
			if past := l.pastKey(a); d.kind == null && d.end <= d.start && past >= 0 {
				w.entry.end, w.value = past, span{past, past} // "key:" and nothing
			} else if d.kind == text && d.end < 0 {
				w.entry.end = l.blockEnd(a)
				w.value.end = w.entry.end
			}
			if d.keyStart < 0 || w.entry.end < 0 || d.kind == alias {
				return false
			}
			if before, twice := last[w.key]; twice {
				l.s.written[before].key = "" // the last one counts
			}
			last[w.key] = len(l.s.written)
		}
		l.s.written = append(l.s.written, w)
	}
	return true
}

// blockEnd returns the offset just past the last line with text of a block scalar, the
// value of a key in block style; -1 if it is none, or has a comment on its first line.
func (l *locator) blockEnd(n int32) int {
	d := &l.t.nodes[n]
	if d.keyStart < 0 || d.start < 0 || d.anchored || l.stream[d.start] != '|' && l.stream[d.start] != '>' {
		return -1
	}
	key := l.column(d.keyStart)
	end := -1
	for at := d.start; ; {
		after, ended := l.lineAfter(at)
		line := bytes.TrimRight(l.stream[at:after], "\r\n")
		switch text := bytes.TrimLeft(line, " "); {
		case at == d.start && bytes.IndexByte(line, '#') >= 0:
			return -1
		case at == d.start, len(text) > 0 && len(line)-len(text) > key:
			end = at + len(line)
		case len(text) > 0:
			return end
		}
		if !ended {
			return end
		}
		at = after
	}
}

// edits appends what makes the site have exactly these stamps, where it was found to
// have others.
func (s *site) edits(edits []Edit, stream []byte, text *names, found, stamps map[string]string) ([]Edit, bool) {
	missing := stamps
	kept := -1 // the last entry that stays
	var gone []int
	for i, w := range s.written {
		want, wanted := stamps[w.key]
		switch {
		case w.key == "":
			kept = i
			continue
		case !wanted:
			gone = append(gone, i)
			continue
		}
		kept = i
		if len(missing) == len(stamps) {
			missing = maps.Clone(stamps)
		}
		delete(missing, w.key)
		if found[w.key] != want {
			value := s.value(want)
			if w.value.start == w.value.end {
				value = " " + value
			}
			edits = append(edits, Edit{w.value.start, w.value.end, value})
		}
	}
	if len(gone) > 0 {
		removed, ok := s.remove(stream, gone, kept, len(missing) > 0)
		if !ok {
			return nil, false
		}
		edits = append(edits, removed...)
	}
	if len(missing) > 0 {
		if s.gap.end > s.gap.start && s.gap.end < s.at {
			edits = append(edits, Edit{s.gap.start, s.gap.end, ""})
		}
		edits = append(edits, s.insert(text, missing, kept))
	}
	return edits, true
}

func (s *site) value(checksum string) string {
	if s.flow {
		return quote(checksum)
	}
	return stampValue(checksum)
}

// insert writes new stamps in the order of their keys.
func (s *site) insert(text *names, stamps map[string]string, kept int) Edit {
	const usual = 4 // so many stamps need no memory beyond the stack
	keys := slices.AppendSeq(make([]string, 0, usual), maps.Keys(stamps))
	slices.Sort(keys)
	parts := append(make([]string, 0, 2+5*usual), s.head)
	for i, key := range keys {
		last := i == len(keys)-1
		switch {
		case !s.flow:
			parts = append(parts, s.indent, stampKey(key), ": ", stampValue(stamps[key]))
			if !last || !s.unended {
				parts = append(parts, s.eol)
			}
		default:
			parts = append(parts, quote(key), ": ", quote(stamps[key]))
			// Behind the last one a separator is due only if an entry follows in the same map.
			if !last || s.tail == "" && kept >= 0 {
				parts = append(parts, s.separator)
			}
		}
	}
	parts = append(parts, s.tail)
	start := s.at
	if s.gap.end == s.at && s.gap.start < s.at {
		start = s.gap.start
	}
	return Edit{start, s.at, text.join(parts...)}
}

// remove takes entries out of the map, of which kept is the last that stays.
func (s *site) remove(stream []byte, gone []int, kept int, refilled bool) ([]Edit, bool) {
	var edits []Edit
	if s.flow {
		for _, i := range gone {
			if i < kept {
				edits = append(edits, Edit{s.written[i].entry.start, s.written[i+1].entry.start, ""})
			}
		}
		if last := gone[len(gone)-1]; last > kept {
			start := s.written[0].entry.start
			if kept >= 0 {
				start = s.written[kept].entry.end
			}
			if start < 0 {
				return nil, false
			}
			edits = append(edits, Edit{start, s.written[last].entry.end, ""})
		}
		return edits, true
	}
	for _, i := range gone {
		e := s.written[i].entry
		start := bytes.LastIndexByte(stream[:e.start], '\n') + 1
		end := len(stream)
		if j := bytes.IndexByte(stream[e.end:], '\n'); j >= 0 {
			end = e.end + j + 1
		}
		if len(bytes.Trim(stream[start:e.start], " ")) > 0 {
			return nil, false
		}
		edits = append(edits, Edit{start, end, ""})
	}
	if kept < 0 && !refilled {
		if s.colon < 0 {
			return nil, false
		}
		edits = append(edits, Edit{s.colon, s.colon, " {}"})
	}
	return edits, true
}
