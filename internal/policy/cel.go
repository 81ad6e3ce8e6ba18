package policy

import (
	"fmt"
	"strings"
)

// objectName is the name of the config object that is being looked at: the API server
// evaluates the policy once for each one in the workload's namespace.
const objectName = "params.metadata.name"

// condition returns the policy's only matchCondition, for the pod templates of t. The API server
// looks at the mutation only where it is true. It evaluates every matchCondition for every
// object, so one that stops at the first term that is false costs least; the terms stand in
// the order in which they rule out most. The policy's variables can't be used in it.
func (o Options) condition(c config, t target) string {
	var terms []string
	add := func(comment, term string) {
		terms = append(terms, "// "+comment+"\n("+term+")")
	}
	if t.custom() {
		add("There is a pod template; an Argo Rollout can point to a Deployment's instead.", has("object", t.template))
	}
	if of := t.onlyKinds(); of != "" {
		add("It is of a kind that was asked for, and a stamp is right there.", of)
	}
	add("The pod template consumes this "+c.kind+".", consumed(c, t.template))
	add("Neither the workload nor the "+c.kind+` says helm-checksum/skip: "true", and the workload stays.`,
		lines("&&",
			"!has(object.metadata.deletionTimestamp)",
			`params.metadata.?annotations["helm-checksum/skip"].orValue("") != "true"`,
			"!"+controls(t.template, "skip", `value == "true"`)))
	if o.OptIn {
		add("The workload asks to be stamped.", controls(t.template, "stamp", `value == "true"`))
	}
	add("The workload's helm-checksum/ignore does not name it; * stands for any characters.",
		"!"+controls(t.template, "ignore", ignores(c)))
	if !o.AlsoStamped {
		add("It has no checksum stamp of the post-renderer, which is more exact.", noChecksum(c, t.template))
	}
	add("Its stamp is not the right one already: then nothing is to be written.",
		annotations(t.template)+"[?"+stamp(c)+`].orValue("") != params.metadata.resourceVersion`)
	return lines("&&", terms...)
}

// lines joins terms with an operator, one a line.
func lines(operator string, terms ...string) string {
	return strings.Join(terms, " "+operator+"\n")
}

// annotations is the annotations map of the pod template, empty if there is none.
func annotations(path string) string {
	return optional("object", path) + ".?metadata.?annotations.orValue({})"
}

// controls is true if the control annotation name, on the workload's own metadata or
// on its pod template's, fulfils test, which sees it as value.
func controls(path, name, test string) string {
	return fmt.Sprintf(`[?object.metadata.?annotations[%[1]q],
 ?%[2]s.?metadata.?annotations[%[1]q]].exists(value,
  %[3]s)`, "helm-checksum/"+name, optional("object", path), test)
}

// optional is a path with each step optional: a field that is not there makes the
// whole absent instead of an error.
func optional(base, path string) string {
	return base + ".?" + strings.ReplaceAll(path, ".", ".?")
}

// has is true if every field of a path is there. It costs less than optional does.
func has(base, path string) string {
	var terms []string
	for _, field := range strings.Split(path, ".") {
		base += "." + field
		terms = append(terms, "has("+base+")")
	}
	return strings.Join(terms, " && ")
}

// names is true if the field at a path is the object's name.
func names(base, path string) string {
	i := strings.LastIndex(path, ".")
	return has(base, path[:i]) + " && " + base + "." + path[:i] + ".?" + path[i+1:] + `.orValue("") == ` + objectName
}

// consumed is true if a reference of CONTRACT.md section 2 names the object.
func consumed(c config, template string) string {
	pod := "object." + template + ".spec"
	container := fmt.Sprintf(`exists(c,
  has(c.envFrom) && c.envFrom.exists(e, %s) ||
  has(c.env) && c.env.exists(e, %s))`, names("e", c.envFrom), names("e", "valueFrom."+c.env))
	var volumes []string
	for _, v := range c.volumes {
		volumes = append(volumes, names("v", v))
	}
	volumes = append(volumes, has("v", "projected.sources")+" && v.projected.sources.exists(s, "+names("s", c.source)+")")
	return lines("||",
		pod+".containers."+container,
		"has("+pod+".initContainers) && "+pod+".initContainers."+container,
		"has("+pod+".volumes) && "+pod+".volumes.exists(v,\n  "+strings.Join(volumes, " ||\n  ")+")",
		controls(template, "consumes", fmt.Sprintf(`value.split(",").exists(i,
    i.trim() in [%[1]q + %[2]s, %[1]q + params.metadata.namespace + "/" + %[2]s])`, c.lower+"/", objectName)))
}

// ignores is true if the list in value names the object. An entry that is not one is passed
// over: as a regular expression it could fail, and then nothing would be stamped.
func ignores(c config) string {
	return fmt.Sprintf(`value.split(",").exists(i,
    i.trim().matches("^%[1]s/[-.*a-z0-9]+$") &&
    (%[2]q + %[3]s).matches("^" + i.trim().replace(".", "[.]").replace("*", ".*") + "$"))`,
		c.lower, c.lower+"/", objectName)
}

// noChecksum is true if the pod template carries no checksum stamp for the object
// (CONTRACT.md section 5). CEL can't compute the SHA-256 that ends a shortened key,
// so there any key that begins and is as long like it counts.
func noChecksum(c config, path string) string {
	const prefix = "helm-checksum/"
	return fmt.Sprintf(`size(%[2]s) <= %[3]d ?
!((%[1]q + %[2]s) in %[4]s) :
!%[4]s.exists(k,
  size(k) == %[5]d && k.startsWith((%[1]q + %[2]s).substring(0, %[6]d) + "-"))`,
		prefix+c.lower+".", objectName, 63-len(c.lower+"."), annotations(path), len(prefix)+63, len(prefix)+52)
}

// longestName is the longest object name that is written into a stamp's key as it
// is: "configmap-version." and 45 characters are the 63 that a key may have.
const longestName = 45

// stamp is the key of the policy's own stamp for the object.
func stamp(c config) string {
	return fmt.Sprintf(`(%q + (size(%[2]s) <= %[3]d ? %[2]s : %[2]s.substring(0, 8) + "-" + params.metadata.uid))`,
		"helm-checksum/"+c.lower+"-version.", objectName, longestName)
}

// mutation adds the stamp as a JSON patch. An ApplyConfiguration would read the same, but
// fails on what merging by key can't take, such as two variables of one name in a container.
func mutation(c config, t target) string {
	pointer := "/" + strings.ReplaceAll(t.template, ".", "/") + "/metadata"
	metadata := optional("object", t.template) + ".?metadata"
	return fmt.Sprintf(`(%[1]s.hasValue() ? [] :
  [JSONPatch{op: "add", path: %[2]q, value: {}}]) +
(%[1]s.?annotations.hasValue() ? [] :
  [JSONPatch{op: "add", path: %[3]q, value: {}}]) +
[JSONPatch{op: "add", path: %[4]q + jsonpatch.escapeKey(%[5]s),
  value: params.metadata.resourceVersion}]`,
		metadata, pointer, pointer+"/annotations", pointer+"/annotations/", stamp(c))
}
