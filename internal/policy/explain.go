package policy

import (
	"fmt"
	"io"
	"strings"
)

// A limit is something that the contract asks for and a policy can't do, with what
// happens instead.
type limit struct{ what, instead string }

var limits = []limit{
	{"the content of an object, or single keys of it",
		"any change of its resourceVersion counts, one of labels or annotations only, too"},
	{"a ConfigMap or Secret that changes while no workload is written",
		"the change takes effect when the workload is written next (apply, patch, drift correction)"},
	{"an object that is written after its workload in the same apply, or milliseconds before it",
		"it takes effect at the next one; the API server's copy of objects follows a moment later"},
	{"helm-checksum/consumes: an object in another namespace",
		"no stamp; the parameters of a policy come from the workload's namespace"},
	{"helm-checksum/consumes: an object named with its own namespace that has a checksum stamp",
		"it gets a version stamp as well, since the SHA-256 in the checksum stamp's key can't be computed"},
	{"telling apart checksum stamps of objects whose long names begin alike",
		"if one of them has a checksum stamp, none gets a version stamp"},
	{"an error for a control that can't be read",
		"the control is passed over: an unknown name, a value that is not \"true\", an entry of a list that is none"},
	{"the flags --skip and --ignore",
		"use the annotations"},
	{"pod templates in a list (--workload with [*])",
		"refused"},
	{"kinds that another API server serves, as OpenShift's DeploymentConfig",
		"it is up to that server whether it evaluates policies"},
	{"Job, CronJob, Pod, ReplicaSet, ReplicationController",
		"left alone, as everywhere: a stamp would do harm or nothing"},
	{"stamps of objects that are not consumed any more",
		"they stay until a writer replaces the annotations; they roll nothing"},
	{"the first moments of a custom resource's definition",
		"the API server may refuse such an object, whatever the failure policy, until it knows its schema"},
}

// Explain writes what the policies for these options do, and what they can't.
func Explain(w io.Writer, o Options) error {
	documents, err := o.documents()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("What these policies stamp, when it is written in a namespace that they select:\n\n")
	for _, d := range documents {
		for _, r := range d.Rules {
			resources := strings.Join(r.Resources, ", ")
			if resources == "*" {
				resources = "the kind that --workload names"
			}
			fmt.Fprintf(&b, "  %-9s  %s in %s (policy %s)\n", d.Kind, resources, r.Group, d.Name)
		}
	}
	b.WriteString(`
An object counts if a container or init container reads it (env, envFrom), a volume names it
(also projected ones, and for Secrets csi, azureFile, cephfs, cinder, flexVolume, iscsi, rbd,
scaleIO, storageos), or the workload's annotation helm-checksum/consumes does. The controls
helm-checksum/skip and ignore`)
	if o.OptIn {
		b.WriteString(", and stamp since --opt-in is given,")
	}
	b.WriteString(` work as in the post-renderer, on the workload or its pod template.
`)
	if !o.AlsoStamped {
		b.WriteString(`
Where the pod template carries a checksum stamp for an object, the policies leave that
object alone.
`)
	}
	b.WriteString(`
What a policy can't reach, and what happens instead:

`)
	for _, l := range limits {
		fmt.Fprintf(&b, "  - %s:\n      %s\n", l.what, l.instead)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// Uninstall writes how to switch the policies for these options off.
func Uninstall(w io.Writer, o Options) error {
	documents, err := o.documents()
	if err != nil {
		return err
	}
	var names []string
	for _, d := range documents {
		names = append(names, d.Name)
	}
	off := "kubectl label namespace --all " + strings.SplitN(DefaultNamespaceSelector, "=", 2)[0] + "-"
	if o.NamespaceSelector != "" && o.NamespaceSelector != DefaultNamespaceSelector {
		off = "# change the labels of namespaces so that none is selected by: " + o.NamespaceSelector
	}
	_, err = fmt.Fprintf(w, `To switch the policies off, take the label from the namespaces; they can stay as they are:

  %s

For one namespace, name it instead of --all. To switch them on again, label it again. The
stamps that are there stay and roll nothing. A writer that replaces a whole workload
(kubectl replace) drops them, and so rolls it once.

Don't delete a policy or a binding to switch it off. Once no binding has used ConfigMaps (or
Secrets) as parameters for a second, an API server no longer refreshes its copy of them until
it is restarted (kubernetes/kubernetes#130887). Applied again, the policies would stamp the
versions of that time: a change rolls nothing, and no error says so. "flux checksum status"
notices it. Seen on Kubernetes 1.36 for ConfigMaps; Secrets are spared while the API server
watches them for itself, which it does by default.

To remove them for good, or when every API server will be restarted before they are applied
again:

  kubectl delete mutatingadmissionpolicybinding,mutatingadmissionpolicy %s
`, off, strings.Join(names, " "))
	return err
}
