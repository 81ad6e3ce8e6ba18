package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Report is what `status -o json` prints. Within apiVersion helm-checksum/v1 fields
// are only added.
type Report struct {
	APIVersion string `json:"apiVersion"` // helm-checksum/v1
	Kind       string `json:"kind"`       // Status
	Time       string `json:"time"`       // RFC 3339, UTC

	Namespaces []string `json:"namespaces"` // empty: all
	Release    string   `json:"release"`    // empty: every workload

	Pods    int           `json:"pods"`    // looked at
	Summary map[State]int `json:"summary"` // how many items are in each state
	Items   []Item        `json:"items"`   // worst first
	Notices []Notice      `json:"notices"` // a policy that does not work
	Unread  []Unread      `json:"unread"`  // for lack of permission

	// Problems are pods that no verdict is given on, and why.
	Problems []string `json:"problems"`
}

// An Item is one workload and one ConfigMap or Secret that its pods consume.
type Item struct {
	State    State    `json:"state"` // the worst of its pods
	Workload Workload `json:"workload"`
	Object   Object   `json:"object"`

	Pods  Pods   `json:"pods"`
	Since string `json:"since"` // RFC 3339, when the object changed; empty if that is not known
	Live  bool   `json:"live"`  // the stale files are new, only the process may not have read them
	Mixed bool   `json:"mixed"` // pods on both sides of the change

	Reason string `json:"reason"`
	Fix    string `json:"fix"` // empty if there is nothing to do
}

// A Workload is what the pods belong to.
type Workload struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Release    string `json:"release"` // the Helm release, if it is one's
}

// An Object is a ConfigMap or Secret, and what is consumed of it.
type Object struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Keys      []string `json:"keys"` // ["*"] for all
	Optional  bool     `json:"optional"`
	Via       []string `json:"via"`
}

// Pods counts the pods of an item.
type Pods struct {
	Total   int           `json:"total"`   // whose containers have started; all, when the object is missing or can't be read
	Waiting int           `json:"waiting"` // whose containers have not: they will read what is there when they start
	States  map[State]int `json:"states"`
	Names   []string      `json:"names"` // of those in the item's state, unless it is current
}

// A Notice says that a stamp of the policy is older than it can be.
type Notice struct {
	Workload Workload `json:"workload"`
	Object   Object   `json:"object"`
	Message  string   `json:"message"`
}

// Difference says whether something is stale or missing: exit code 1.
func (r *Report) Difference(strict bool) bool {
	return slices.ContainsFunc(r.Items, func(i Item) bool { return i.State.Counts(strict) })
}

func newReport(o Options, now time.Time, readings *readings, objects map[objectKey]*object, unread []Unread, problems []string) *Report {
	r := &Report{
		APIVersion: "helm-checksum/v1", Kind: "Status", Time: stampTime(now.Unix()),
		Namespaces: append([]string{}, o.Namespaces...), Release: o.Release,
		Pods: readings.pods, Summary: map[State]int{}, Items: []Item{}, Notices: []Notice{},
		Unread: unread, Problems: append([]string{}, problems...),
	}
	for key, l := range readings.lines {
		live := objects[key.object]
		item, ok := judge(key, l, live, len(o.HMACKey) > 0)
		if !ok {
			continue
		}
		r.Summary[item.State]++
		r.Items = append(r.Items, item)
		if frozen(key, live) {
			r.Notices = append(r.Notices, Notice{item.Workload, item.Object, fmt.Sprintf(
				"%s was written after %s %s last changed, and still carries an older version of it: the policy does not work "+
					"(an API server that never refreshes its parameters, kubernetes/kubernetes#130887: restart it), or is switched off here",
				key.owner, key.object.kind, key.object.name)})
		}
	}
	slices.SortFunc(r.Items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.State.rank(), b.State.rank()), compareNames(a.Workload, a.Object, b.Workload, b.Object))
	})
	slices.SortFunc(r.Notices, func(a, b Notice) int { return compareNames(a.Workload, a.Object, b.Workload, b.Object) })
	slices.Sort(r.Problems)
	return r
}

func compareNames(w1 Workload, o1 Object, w2 Workload, o2 Object) int {
	return cmp.Or(
		strings.Compare(w1.Namespace, w2.Namespace), strings.Compare(w1.Kind, w2.Kind), strings.Compare(w1.Name, w2.Name),
		strings.Compare(o1.Kind, o2.Kind), strings.Compare(o1.Namespace, o2.Namespace), strings.Compare(o1.Name, o2.Name),
		strings.Compare(w1.APIVersion, w2.APIVersion))
}

// judge makes one item of the pods of a line. There is none when no pod has read
// anything yet, and what they wait for exists.
func judge(key lineKey, l *line, o *object, hasKey bool) (Item, bool) {
	item := Item{
		State: Current,
		Workload: Workload{key.owner.apiVersion, key.owner.kind, key.owner.namespace, key.owner.name,
			cmp.Or(key.owner.release, key.owner.helmRelease)},
		Object: Object{Kind: key.object.kind, Namespace: key.object.namespace, Name: key.object.name, Optional: true},
		Pods:   Pods{States: map[State]int{}, Names: []string{}},
	}
	slices.SortFunc(l.pods, func(a, b reading) int { return strings.Compare(a.pod, b.pod) })
	verdicts := make([]verdict, len(l.pods))
	var before, after bool // pods that started before the change, and after it
	for i := range l.pods {
		p := &l.pods[i]
		item.Object.Keys = append(item.Object.Keys, p.consumption.keys...)
		item.Object.Via = append(item.Object.Via, p.consumption.via...)
		item.Object.Optional = item.Object.Optional && p.consumption.optional
		v := decide(p.evidence(key, o, hasKey))
		if p.start == 0 && v.state != Missing && !o.unread {
			item.Pods.Waiting++
			verdicts[i].state = ""
			continue
		}
		verdicts[i] = v
		item.Pods.Total++
		item.Pods.States[v.state]++
		if v.state.rank() < item.State.rank() {
			item.State = v.state
		}
		if v.behind && v.state != Current && v.state != Drifted {
			before = true
		} else if o.exists {
			after = true
		}
	}
	item.Object.Keys = distinct(item.Object.Keys)
	if slices.Contains(item.Object.Keys, "*") {
		item.Object.Keys = []string{"*"}
	}
	item.Object.Via = distinct(item.Object.Via)
	item.Mixed = before && after
	item.Live = item.State == Stale || item.State == MaybeStale
	var since int64
	for i, v := range verdicts {
		if v.state != item.State {
			continue
		}
		item.Live = item.Live && l.pods[i].consumption.readers.live
		if item.State != Current {
			item.Pods.Names = append(item.Pods.Names, l.pods[i].pod)
			since = max(since, v.changed)
		}
		item.Reason = v.reason
	}
	if since != 0 {
		item.Since = stampTime(since)
	}
	item.Fix = remedy(key, item, o, l)
	return item, item.Pods.Total > 0
}

// evidence sets one pod beside the live object.
func (r *reading) evidence(key lineKey, o *object, hasKey bool) evidence {
	e := evidence{
		start: r.start, keys: r.consumption.keys, optional: r.consumption.optional,
		unread: o.unread, exists: o.exists, skip: o.skip, history: o.history,
	}
	if stamp := r.stamp(); stamp != "" {
		e.stamp = o.compare(key.object.kind, stamp, r.consumption.keys, hasKey)
	}
	if key.object.namespace != key.owner.namespace { // the policy stamps its own namespace's objects
		return e
	}
	if version, ok := r.stamps[versionStamp(key.object.kind, key.object.name, o.uid)]; ok {
		e.version = differs
		if o.exists && version == o.version {
			e.version = equal
		}
	}
	return e
}

// compare sets a checksum beside the live content of these keys. A Secret's stamp
// that does not match may be a keyed one, as long as no key is given.
func (o *object) compare(kind, stamp string, keys []string, hasKey bool) comparison {
	sums, ok := o.checksums[joined(keys)]
	switch {
	case !o.exists:
		return differs
	case !ok:
		return noStamp
	case stamp == sums.plain || hasKey && stamp == sums.keyed:
		return equal
	case kind == "Secret" && !hasKey:
		return needsKey
	}
	return differs
}

// frozenMargin is how much later than the object a workload must have been
// written, in seconds: the API server hears of a changed object a little later itself.
const frozenMargin = 5

// frozen says whether the policy left an old version on a workload that was
// written after the object last changed. Where the template carries our checksum for
// the object the policy leaves it alone.
func frozen(key lineKey, o *object) bool {
	w := key.owner
	if !o.exists || w.template == nil || key.object.namespace != w.namespace {
		return false
	}
	stamp, ok := w.template[versionStamp(key.object.kind, key.object.name, o.uid)]
	if !ok || stamp == o.version {
		return false
	}
	if _, ok := w.template["helm-checksum/"+strings.ToLower(key.object.kind)+"."+key.object.name]; ok {
		return false
	}
	// A write that leaves no time behind, such as removing a label, still moves the version.
	object, err1 := strconv.ParseUint(o.version, 10, 64)
	workload, err2 := strconv.ParseUint(w.version, 10, 64)
	if err1 == nil && err2 == nil && object > workload {
		return false
	}
	return w.written > o.history.touched+frozenMargin
}

// restart holds how pods of a kind are made anew.
var restart = map[string]string{
	"Deployment":  "kubectl rollout restart deployment/%s -n %s",
	"StatefulSet": "kubectl rollout restart statefulset/%s -n %s",
	"DaemonSet":   "kubectl rollout restart daemonset/%s -n %s",
	"Rollout":     "kubectl argo rollouts restart %s -n %s",
	"Pod":         "make pod %s in %s anew",
	"Job":         "run job %s in %s anew",
	"CronJob":     "none needed: the next run of cronjob %s in %s reads it",
}

// remedy says what would fix an item.
func remedy(key lineKey, item Item, o *object, l *line) string {
	switch item.State {
	case Stale, MaybeStale:
		if templateIsNew(key, o, l) {
			return fmt.Sprintf("finish the rollout of %s/%s: its pod template is new already", strings.ToLower(key.owner.kind), key.owner.name)
		}
		command := "restart the pods of " + strings.ToLower(key.owner.kind) + "/%s in %s"
		if c, ok := restart[key.owner.kind]; ok {
			command = c
		}
		command = fmt.Sprintf(command, key.owner.name, key.owner.namespace)
		if item.Live {
			return command + " (unless the process reads the file again)"
		}
		return command
	case Missing:
		return fmt.Sprintf("create %s %s/%s", key.object.kind, key.object.namespace, key.object.name)
	case Unknown:
		switch {
		case o.unread:
			return "allow get and list on " + strings.ToLower(key.object.kind) + "s"
		case o.exists:
			return "give --hmac-key-file"
		}
		return "upgrade the release"
	case Drifted:
		return "none needed: the next render rolls it; carry the change into the chart to keep it"
	}
	return ""
}

// templateIsNew says whether the workload's pod template has the stamp of the live
// object, so that only its rollout is missing.
func templateIsNew(key lineKey, o *object, l *line) bool {
	for i := range l.pods {
		c := l.pods[i].consumption
		for _, name := range c.stamps {
			if stamp, ok := key.owner.template[name]; ok {
				return o.compare(key.object.kind, stamp, c.keys, true) == equal
			}
		}
	}
	stamp, ok := key.owner.template[versionStamp(key.object.kind, key.object.name, o.uid)]
	return ok && stamp == o.version
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func stampTime(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
