package policy

import (
	"fmt"
	"slices"
	"strings"
)

// builtin is the group of kinds that every policy covers.
const builtin = "builtin"

// A kind is a kind of workload as admission sees it: by resource, with the place
// of its pod template. The table follows CONTRACT.md section 1.
type kind struct {
	family   string // what --kinds names it by
	group    string
	version  string // "*" for any
	resource string
	kind     string // set where the resource is not known, then resource is "*"
	template string // dots between fields
	suffix   string // of the policy's name, where template is not spec.template
	leave    string // CEL that is true for those that must be left alone; may be empty
}

const specTemplate = "spec.template"

// Kinds whose pods are updated in place do not restart when an annotation of their
// template changes, so a stamp would say what is not true.
func inPlace(field string) string {
	return `object.?spec.?updateStrategy.?` + strings.ReplaceAll(field, ".", ".?") + `.orValue("") in ["InPlaceIfPossible", "InPlaceOnly"]`
}

// Knative writes a Service's Configuration itself, from the Service's template, stamps
// included; a fixed revision name forbids template changes.
const (
	fixedRevision      = `object.?spec.?template.?metadata.?name.hasValue()`
	ownedConfiguration = `object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))`
)

var kinds = []kind{
	{family: builtin, group: "apps", version: "v1", resource: "deployments", template: specTemplate},
	{family: builtin, group: "apps", version: "v1", resource: "statefulsets", template: specTemplate},
	{family: builtin, group: "apps", version: "v1", resource: "daemonsets", template: specTemplate},

	{family: "argo", group: "argoproj.io", version: "*", resource: "rollouts", template: specTemplate},

	{family: "openshift", group: "apps.openshift.io", version: "*", resource: "deploymentconfigs", template: specTemplate},

	{family: "kruise", group: "apps.kruise.io", version: "*", resource: "clonesets", template: specTemplate, leave: inPlace("type")},
	{family: "kruise", group: "apps.kruise.io", version: "*", resource: "statefulsets", template: specTemplate, leave: inPlace("rollingUpdate.podUpdatePolicy")},
	{family: "kruise", group: "apps.kruise.io", version: "*", resource: "daemonsets", template: specTemplate, leave: inPlace("rollingUpdate.rollingUpdateType")},

	{family: "knative", group: "serving.knative.dev", version: "*", resource: "services", template: specTemplate, leave: fixedRevision},
	{family: "knative", group: "serving.knative.dev", version: "*", resource: "configurations", template: specTemplate, leave: fixedRevision + " || " + ownedConfiguration},

	{family: "leaderworkerset", group: "leaderworkerset.x-k8s.io", version: "*", resource: "leaderworkersets",
		template: "spec.leaderWorkerTemplate.leaderTemplate", suffix: "-leader"},
	{family: "leaderworkerset", group: "leaderworkerset.x-k8s.io", version: "*", resource: "leaderworkersets",
		template: "spec.leaderWorkerTemplate.workerTemplate", suffix: "-worker"},
}

// Families returns what --kinds takes: the families of custom resources that the
// policy knows, in alphabetical order.
func Families() []string {
	var names []string
	for _, k := range kinds {
		if k.family != builtin && !slices.Contains(names, k.family) {
			names = append(names, k.family)
		}
	}
	slices.Sort(names)
	return names
}

// parseWorkload reads a kind named by the user, GROUP/KIND=PATH as everywhere in
// this project. Admission matches by resource, which the user need not know: the
// policy matches every resource of the group, and a condition the kind.
func parseWorkload(s string) (kind, error) {
	name, path, ok := strings.Cut(s, "=")
	group, kindName, ok2 := strings.Cut(name, "/")
	if !ok || !ok2 || group == "" || kindName == "" || path == "" {
		return kind{}, fmt.Errorf("workload %q is not GROUP/KIND=PATH, such as example.com/App=spec.template", s)
	}
	if !groupName.MatchString(group) || !kindIdentifier.MatchString(kindName) {
		return kind{}, fmt.Errorf("workload %q: %s/%s is not the group and kind of an API, such as example.com/App", s, group, kindName)
	}
	if strings.Contains(path, "[*]") {
		return kind{}, fmt.Errorf("workload %q: a policy can't reach templates in a list ([*]); use the post-renderer for them", s)
	}
	if !fieldPath.MatchString(path) {
		return kind{}, fmt.Errorf("workload %q: %q is not a path of fields with dots between them, such as spec.template", s, path)
	}
	k := kind{group: group, version: "*", resource: "*", kind: kindName, template: path}
	if path != specTemplate {
		k.suffix = "-" + strings.ToLower(kindName+"."+group+"."+path)
	}
	return k, nil
}
