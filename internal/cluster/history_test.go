package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func entry(manager string, at int64, fields string) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, FieldsType: "FieldsV1"}
	if at != 0 {
		t := metav1.Unix(at, 0)
		e.Time = &t
	}
	if fields != "" {
		e.FieldsV1 = metav1.NewFieldsV1(fields)
	}
	return e
}

func TestReadHistory(t *testing.T) {
	tests := []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		want    history
	}{
		{"kubectl create configmap", []metav1.ManagedFieldsEntry{
			entry("kubectl-create", 100, `{"f:data":{".":{},"f:A":{},"f:B":{}}}`),
		}, history{100, []write{content(100, "A", "B")}, 100}},
		{"helm, then kubectl edit of one key", []metav1.ManagedFieldsEntry{
			entry("helm", 100, `{"f:data":{".":{},"f:B":{}},"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`),
			entry("kubectl-edit", 300, `{"f:data":{"f:A":{}}}`),
		}, history{100, []write{labelled(100, "B"), content(300, "A")}, 300}},
		{"a label alone", []metav1.ManagedFieldsEntry{
			entry("helm", 100, `{"f:data":{".":{},"f:A":{}}}`),
			entry("kubectl-label", 300, `{"f:metadata":{"f:labels":{".":{},"f:x":{}}}}`),
		}, history{100, []write{content(100, "A")}, 300}},
		{"a Secret's type is not content", []metav1.ManagedFieldsEntry{
			entry("kubectl-create", 120, `{"f:data":{".":{},"f:A":{}},"f:type":{}}`),
		}, history{100, []write{labelled(120, "A")}, 120}},
		{"binaryData is", []metav1.ManagedFieldsEntry{
			entry("m", 120, `{"f:binaryData":{"f:logo.png":{}},"f:data":{"f:A":{}}}`),
		}, history{100, []write{content(120, "A", "logo.png")}, 120}},
		{"a key with special characters", []metav1.ManagedFieldsEntry{
			entry("m", 120, `{"f:data":{"f:f:odd..key":{}}}`),
		}, history{100, []write{content(120, "f:odd..key")}, 120}},
		{"no managedFields", nil, history{100, []write{{time: 100}}, 100}},
		{"no time", []metav1.ManagedFieldsEntry{entry("m", 0, `{"f:data":{"f:A":{}}}`)}, history{100, []write{content(100, "A")}, 100}},
		{"fields that can't be read", []metav1.ManagedFieldsEntry{entry("m", 150, `[`), entry("n", 160, "")}, history{100, []write{{time: 100}}, 160}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := readHistory(metav1.NewTime(time.Unix(100, 0)), tt.entries)
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(history{}, write{})); d != "" {
				t.Errorf("history (-want +got):\n%s", d)
			}
		})
	}
}
