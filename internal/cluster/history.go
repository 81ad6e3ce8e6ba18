package cluster

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// contentFields are the fields of a ConfigMap or Secret that hold content, as
// managedFields writes them. All else (labels, annotations, type, immutable) is none.
var contentFields = []string{"f:data", "f:binaryData", "f:stringData"}

// A write is one managedFields entry that owns content: its manager wrote at that
// time, and owns these keys. Whether it then wrote the content or only the other
// fields that it owns, the entry does not tell.
type write struct {
	time int64 // Unix seconds: managedFields keep no more
	only bool  // the entry owns nothing but content
	keys map[string]bool
}

// A history says when the content of an object may last have changed.
type history struct {
	created int64
	writes  []write
	touched int64 // the newest write of anything, labels included
}

// readHistory reads the managedFields of an object. An entry without a time counts
// as old as the object. Without entries that own content, the creation is all there is.
func readHistory(created metav1.Time, entries []metav1.ManagedFieldsEntry) history {
	h := history{created: created.Unix(), touched: created.Unix()}
	for _, e := range entries {
		at := h.created
		if e.Time != nil {
			at = e.Time.Unix()
		}
		h.touched = max(h.touched, at)
		if e.FieldsV1 == nil {
			continue
		}
		w := write{time: at, only: true, keys: map[string]bool{}}
		var fields map[string]json.RawMessage
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		owns := false
		for field, under := range fields {
			if !slices.Contains(contentFields, field) {
				w.only = w.only && field == "."
				continue
			}
			owns = true
			var keys map[string]json.RawMessage
			if json.Unmarshal(under, &keys) != nil {
				continue
			}
			for key := range keys {
				if name, ok := strings.CutPrefix(key, "f:"); ok {
					w.keys[name] = true
				}
			}
		}
		if owns {
			h.writes = append(h.writes, w)
		}
	}
	if len(h.writes) == 0 {
		h.writes = []write{{time: h.created}}
	}
	return h
}

// relevant returns the writes that may have changed what these keys hold (["*"]
// is all). A write that owns none of them can't have changed them, as long as each
// key has an owner; a key that has none was taken away, by whom is not recorded.
func (h history) relevant(keys []string) []write {
	if slices.Contains(keys, "*") {
		return h.writes
	}
	for _, key := range keys {
		if !slices.ContainsFunc(h.writes, func(w write) bool { return w.keys[key] }) {
			return h.writes
		}
	}
	var found []write
	for _, w := range h.writes {
		if slices.ContainsFunc(keys, func(key string) bool { return w.keys[key] }) {
			found = append(found, w)
		}
	}
	return found
}

// within says whether the write owns nothing but content that is consumed.
func (w write) within(keys []string) bool {
	if !w.only {
		return false
	}
	if slices.Contains(keys, "*") {
		return true
	}
	for key := range w.keys {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}
