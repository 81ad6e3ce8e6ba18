package renderer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A workloadKind is a row of the table of kinds that have pod templates
// (CONTRACT.md section 1). Kinds are matched by API group and kind; the version is
// not looked at.
type workloadKind struct {
	group string
	kind  string
	paths []string // to the pod templates

	// never, when not empty, says why this kind is seen but not stamped.
	never string

	// inPlace is where this kind says that it updates pods in place.
	inPlace string

	// revision marks Knative's kinds, whose template may have a fixed revision name.
	revision bool

	// waits are places that make a rollout wait for someone.
	waits []wait
}

// A wait is a field whose value makes a rollout wait.
type wait struct {
	path string
	held func(t *tree, n int32) bool // n is 0 when the field is absent
	note string
}

const (
	immutableJob   = "its pod template is immutable: a stamp would make the next upgrade fail"
	nextRun        = "the next run reads the current config anyway"
	noReplace      = "a changed template does not replace running pods"
	fixedName      = "a fixed revision name forbids template changes"
	inPlaceOnly    = "in-place update changes annotations without restarting"
	waitsPaused    = "its rollout waits until someone resumes it (paused)"
	waitsPartition = "pods below the partition keep their template until it is lowered"
	elsewhere      = "its pods come from the workload that spec.workloadRef names"
)

func isTrue(t *tree, n int32) bool {
	return n != 0 && t.nodes[n].kind == boolean && string(t.nodes[n].text) == "true"
}

func isOnDelete(t *tree, n int32) bool {
	return n != 0 && t.nodes[n].kind == text && string(t.textOf(n)) == "OnDelete"
}

// isSet takes a partition: a number above 0 or a percentage above 0.
func isSet(t *tree, n int32) bool {
	return n != 0 && (t.nodes[n].kind == number || t.nodes[n].kind == text) &&
		strings.Trim(string(t.nodes[n].text), "0%") != ""
}

// noConfigChange: with triggers given, but no ConfigChange among them, OpenShift
// deploys only when asked. Without the field it defaults to one.
func noConfigChange(t *tree, n int32) bool {
	if n == 0 || t.nodes[n].kind != sequence {
		return false
	}
	for c := range t.children(n) {
		if t.stringAt(c, "type") == "ConfigChange" {
			return false
		}
	}
	return true
}

var (
	onDelete  = wait{"spec.updateStrategy.type", isOnDelete, "its pods take the change when someone deletes them (updateStrategy OnDelete)"}
	paused    = wait{"spec.paused", isTrue, waitsPaused}
	partition = wait{"spec.updateStrategy.rollingUpdate.partition", isSet, waitsPartition}
)

var podTemplate = []string{"spec.template"}

// workloadKinds are the kinds with pod templates that are known without being told.
var workloadKinds = []workloadKind{
	{group: "apps", kind: "Deployment", paths: podTemplate, waits: []wait{paused}},
	{group: "apps", kind: "StatefulSet", paths: podTemplate, waits: []wait{onDelete, partition}},
	{group: "apps", kind: "DaemonSet", paths: podTemplate, waits: []wait{onDelete}},
	{group: "extensions", kind: "Deployment", paths: podTemplate, waits: []wait{paused}},
	{group: "extensions", kind: "StatefulSet", paths: podTemplate, waits: []wait{onDelete, partition}},
	{group: "extensions", kind: "DaemonSet", paths: podTemplate, waits: []wait{onDelete}},
	{group: "argoproj.io", kind: "Rollout", paths: podTemplate, waits: []wait{paused}},
	{group: "apps.openshift.io", kind: "DeploymentConfig", paths: podTemplate, waits: []wait{
		paused, {"spec.triggers", noConfigChange, "its rollout waits for someone: it has no ConfigChange trigger"}}},
	{group: "apps.kruise.io", kind: "CloneSet", paths: podTemplate, inPlace: "spec.updateStrategy.type", waits: []wait{
		{"spec.updateStrategy.paused", isTrue, waitsPaused}, {"spec.updateStrategy.partition", isSet, waitsPartition}}},
	{group: "apps.kruise.io", kind: "StatefulSet", paths: podTemplate, inPlace: "spec.updateStrategy.rollingUpdate.podUpdatePolicy", waits: []wait{
		onDelete, partition, {"spec.updateStrategy.rollingUpdate.paused", isTrue, waitsPaused}}},
	{group: "apps.kruise.io", kind: "DaemonSet", paths: podTemplate, inPlace: "spec.updateStrategy.rollingUpdate.rollingUpdateType", waits: []wait{
		onDelete, partition, {"spec.updateStrategy.rollingUpdate.paused", isTrue, waitsPaused}}},
	{group: "serving.knative.dev", kind: "Service", paths: podTemplate, revision: true},
	{group: "serving.knative.dev", kind: "Configuration", paths: podTemplate, revision: true},
	{group: "leaderworkerset.x-k8s.io", kind: "LeaderWorkerSet",
		paths: []string{"spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"},
		waits: []wait{{"spec.rolloutStrategy.rollingUpdateConfiguration.partition", isSet, waitsPartition}}},

	{group: "batch", kind: "Job", paths: podTemplate, never: immutableJob},
	{group: "batch", kind: "CronJob", paths: []string{"spec.jobTemplate.spec.template"}, never: nextRun},
	{group: "", kind: "Pod", paths: []string{""}, never: noReplace},
	{group: "apps", kind: "ReplicaSet", paths: podTemplate, never: noReplace},
	{group: "extensions", kind: "ReplicaSet", paths: podTemplate, never: noReplace},
	{group: "", kind: "ReplicationController", paths: podTemplate, never: noReplace},
}

// The config objects' kinds, and the kind of a list of anything.
const (
	configMapKind = "ConfigMap"
	secretKind    = "Secret"
	listKind      = "List"
)

// kinds finds what a kind means to us: built once for a Renderer, then only read. It is
// built in every run, so with next to no memory, and asked for every document.
type kinds struct {
	rows []workloadKind

	// The rows whose kinds have one hash are a chain. 0 ends it, so rows count from 1 here.
	first [64]int32
	next  []int32
}

// newKinds adds the user's GROUP/KIND=PATH entries to the known ones.
func newKinds(user []string) (*kinds, error) {
	k := &kinds{rows: slices.Clip(workloadKinds), next: make([]int32, 0, len(workloadKinds)+len(user))}
	for range workloadKinds {
		k.chain()
	}
	for _, entry := range user {
		row, err := parseWorkloadKind(entry)
		if err != nil {
			return nil, err
		}
		switch known := k.number([]byte(row.group+"/v1"), []byte(row.kind)); {
		case known < 0:
			k.rows = append(k.rows, row)
			k.chain()
		case known < len(workloadKinds):
			return nil, fmt.Errorf("workload %q: %s is a kind that is known already", entry, row.kind)
		default:
			k.rows[known].paths = append(k.rows[known].paths, row.paths...)
		}
	}
	return k, nil
}

// chain puts the next row into the chain of its kind's hash.
func (k *kinds) chain() {
	row := len(k.next)
	first := &k.first[k.hash([]byte(k.rows[row].kind))]
	k.next = append(k.next, *first)
	*first = int32(row) + 1
}

// hash tells most kinds apart.
func (k *kinds) hash(kind []byte) int {
	if len(kind) == 0 {
		return 0
	}
	return (int(kind[0])*7 + len(kind)) % len(k.first)
}

func parseWorkloadKind(entry string) (workloadKind, error) {
	bad := func(why string) (workloadKind, error) {
		return workloadKind{}, fmt.Errorf("workload %q: %s (want GROUP/KIND=PATH, such as example.com/Widget=spec.podTemplate)", entry, why)
	}
	name, path, ok := strings.Cut(entry, "=")
	if !ok {
		return bad("no =")
	}
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return bad("no / between group and kind")
	}
	row := workloadKind{group: name[:slash], kind: name[slash+1:], paths: []string{path}}
	switch {
	case row.kind == "":
		return bad("no kind")
	case strings.Contains(row.group, "/"):
		return bad("a version is not looked at: give the group alone")
	case row.group == "" && (row.kind == configMapKind || row.kind == secretKind), row.kind == listKind:
		return bad("it has no pod template")
	}
	for _, field := range strings.Split(path, ".") {
		if f := strings.TrimSuffix(field, anyItem); f == "" || strings.ContainsAny(f, "[]* ") {
			return bad("the path has an empty or unreadable field")
		}
	}
	return row, nil
}

// number returns the number of a kind's row, -1 if it is not known to have pod templates.
func (k *kinds) number(apiVersion, kind []byte) int {
	for i := k.first[k.hash(kind)]; i != 0; i = k.next[i-1] {
		if row := &k.rows[i-1]; row.kind == string(kind) && row.group == string(apiGroup(apiVersion)) {
			return int(i) - 1
		}
	}
	return -1
}

// find returns the row of a kind; nil if it is not known to have pod templates.
func (k *kinds) find(apiVersion, kind []byte) *workloadKind {
	if i := k.number(apiVersion, kind); i >= 0 {
		return &k.rows[i]
	}
	return nil
}

// apiGroup returns what stands before the slash of an apiVersion.
func apiGroup(apiVersion []byte) []byte {
	return apiVersion[:max(bytes.IndexByte(apiVersion, '/'), 0)]
}

// known says whether objects of that kind, or a list of them, matter to us.
func (k *kinds) known(apiVersion, kind []byte) bool {
	if n := len(kind) - len(listKind); n >= 0 && string(kind[n:]) == listKind {
		return n == 0 || k.known(apiVersion, kind[:n])
	}
	switch string(kind) {
	case configMapKind, secretKind:
		return len(apiGroup(apiVersion)) == 0
	}
	return k.find(apiVersion, kind) != nil
}

// mentioned says whether a document's text may hold a kind that matters. It is for
// documents whose kind can't be told without parsing.
func (k *kinds) mentioned(doc []byte) bool {
	for _, kind := range []string{configMapKind, secretKind, listKind, `\`} {
		if bytes.Contains(doc, []byte(kind)) {
			return true
		}
	}
	for i := range k.rows {
		if bytes.Contains(doc, []byte(k.rows[i].kind)) {
			return true
		}
	}
	return false
}

const anyItem = "[*]"

// A templatePlace is a pod template, or the object itself where that is a Pod, and the
// path to it, with the items' numbers in it.
type templatePlace struct {
	node int32
	path string
}

// templates appends the nodes at a dotted path from a node, [*] standing for every
// item of a list.
func (t *tree) templates(into []templatePlace, n int32, path string) ([]templatePlace, error) {
	if path == "" {
		return append(into, templatePlace{n, ""}), nil
	}
	return t.walk(into, n, path, 0, "", 0)
}

// walk follows a path from an offset in it. The path so far is done, with what stands
// between done and the offset behind it.
func (t *tree) walk(into []templatePlace, n int32, path string, at int, done string, from int) ([]templatePlace, error) {
	for ; at <= len(path); at++ {
		if t.nodes[n].kind == null {
			return into, nil
		}
		if t.nodes[n].kind != mapping {
			return into, &typeError{n, "a map"}
		}
		field, _, _ := strings.Cut(path[at:], ".")
		name, each := strings.CutSuffix(field, anyItem)
		if n = t.get(n, name); n == 0 {
			return into, nil
		}
		at += len(field)
		if !each {
			continue
		}
		if t.nodes[n].kind == null {
			return into, nil
		}
		if t.nodes[n].kind != sequence {
			return into, &typeError{n, "a list"}
		}
		done += path[from : at-len(anyItem)]
		i := 0
		for item := range t.children(n) {
			var err error
			if into, err = t.walk(into, item, path, at+1, done+"["+strconv.Itoa(i)+"]", at); err != nil {
				return into, err
			}
			i++
		}
		return into, nil
	}
	switch t.nodes[n].kind {
	case null:
		return into, nil
	case mapping:
		return append(into, templatePlace{n, done + path[from:]}), nil
	}
	return into, &typeError{n, "a map"}
}

// reason says why this workload is not stamped, "" if it may be.
func (k *workloadKind) reason(t *tree, object, template int32) string {
	if k.never != "" {
		return k.never
	}
	if k.revision && t.stringAt(template, "metadata", "name") != "" {
		return fixedName
	}
	if k.inPlace != "" {
		switch t.stringAt(object, strings.Split(k.inPlace, ".")...) {
		case "InPlaceIfPossible", "InPlaceOnly":
			return inPlaceOnly
		}
	}
	return ""
}

// note says what the rollout of a stamped workload waits for.
func (k *workloadKind) note(t *tree, object int32) string {
	var notes []string
	for _, w := range k.waits {
		if w.held(t, t.at(object, strings.Split(w.path, ".")...)) {
			notes = append(notes, w.note)
		}
	}
	return strings.Join(notes, "; ")
}
