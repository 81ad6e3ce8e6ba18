// Package policy generates MutatingAdmissionPolicies: rules with which the API server
// itself stamps workloads, with the resourceVersion of each ConfigMap and Secret that
// they consume. It covers what no chart renders. Nothing of ours runs in the cluster.
//
// The API server evaluates a policy once for each config object in the namespace of
// the workload that is being written (the binding's paramRef). Whether the workload
// consumes that object is decided in matchConditions, which cost much less than a
// mutation that changes nothing.
//
// The fields are those of https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/.
package policy

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// MinimumVersion is the first version of Kubernetes that serves the policies' API
// (admissionregistration.k8s.io/v1 MutatingAdmissionPolicy) as stable.
const MinimumVersion = "1.36"

// DefaultNamespaceSelector selects the namespaces that the policies act in.
const DefaultNamespaceSelector = "helm-checksum/policy=enabled"

// What becomes of a request when a policy can't be evaluated.
const (
	Ignore = "Ignore" // the workload is written without the stamp
	Fail   = "Fail"   // the request is refused
)

// Options says what the policies do. The zero value is the default behaviour.
type Options struct {
	// NamespaceSelector is a label selector for namespaces, in kubectl's syntax;
	// DefaultNamespaceSelector if empty. kube-system is never selected.
	NamespaceSelector string

	// ConfigSelector is a label selector for the config objects that count; all if empty.
	ConfigSelector string

	// OptIn stamps only workloads annotated helm-checksum/stamp: "true".
	OptIn bool

	// NoSecrets leaves the policy for Secrets out.
	NoSecrets bool

	// Kinds holds families of custom resources to stamp as well (see Families).
	Kinds []string

	// Workloads holds further kinds with pod templates, as GROUP/KIND=PATH.
	Workloads []string

	// AlsoStamped stamps for objects, too, that the pod template already carries a
	// checksum stamp for. A change of labels only then rolls the workload.
	AlsoStamped bool

	// FailurePolicy is Ignore (if empty) or Fail.
	FailurePolicy string
}

var (
	groupName      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	kindIdentifier = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	fieldPath      = regexp.MustCompile(`^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*$`)
)

// A target is what one policy per kind of config object covers: all selected kinds
// whose pod template is at one place.
type target struct {
	template string
	suffix   string
	kinds    []kind
}

func (t target) custom() bool {
	return slices.ContainsFunc(t.kinds, func(k kind) bool { return k.family != builtin })
}

// onlyKinds is a CEL expression that narrows down the resources of the policy's rules
// where these alone take in too much; empty if they do not.
func (t target) onlyKinds() string {
	var terms []string
	for _, r := range t.rules() {
		if !slices.Contains(r.Resources, "*") {
			continue
		}
		var named, known []string
		for _, k := range t.kinds {
			switch {
			case k.group != r.Group:
			case k.kind != "":
				named = append(named, k.kind)
			default:
				known = append(known, k.resource)
			}
		}
		terms = append(terms, fmt.Sprintf("(request.resource.group != %q || request.kind.kind in %s || request.resource.resource in %s)",
			r.Group, list(named), list(known)))
	}
	for _, k := range t.kinds {
		if k.leave != "" {
			terms = append(terms, fmt.Sprintf("!(request.resource.group == %q && request.resource.resource == %q && (%s))", k.group, k.resource, k.leave))
		}
	}
	return lines("&&", terms...)
}

// list writes strings as a list that YAML and CEL both read.
func list(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// A rule is an entry of matchConstraints.resourceRules.
type rule struct {
	Group, Version string
	Resources      []string
}

func (t target) rules() []rule {
	var out []rule
	for _, k := range t.kinds {
		i := slices.IndexFunc(out, func(r rule) bool { return r.Group == k.group && r.Version == k.version })
		if i < 0 {
			out = append(out, rule{Group: k.group, Version: k.version})
			i = len(out) - 1
		}
		if !slices.Contains(out[i].Resources, k.resource) {
			out[i].Resources = append(out[i].Resources, k.resource)
		}
	}
	return out
}

// targets groups the selected kinds by the place of their pod template.
func (o Options) targets() ([]target, error) {
	for _, name := range o.Kinds {
		if !slices.Contains(Families(), name) {
			return nil, fmt.Errorf("kinds: %q is not one of %s; another kind can be named with --workload", name, strings.Join(Families(), ", "))
		}
	}
	var selected []kind
	for _, k := range kinds {
		if k.family == builtin || slices.Contains(o.Kinds, k.family) {
			selected = append(selected, k)
		}
	}
	for _, s := range o.Workloads {
		k, err := parseWorkload(s)
		if err != nil {
			return nil, err
		}
		selected = append(selected, k)
	}
	var out []target
	for _, k := range selected {
		i := slices.IndexFunc(out, func(t target) bool { return t.template == k.template && t.suffix == k.suffix })
		if i < 0 {
			out = append(out, target{template: k.template, suffix: k.suffix})
			i = len(out) - 1
		}
		if !slices.ContainsFunc(out[i].kinds, func(o kind) bool { return o.group == k.group && o.resource == k.resource && o.kind == k.kind }) {
			out[i].kinds = append(out[i].kinds, k)
		}
	}
	return out, nil
}

// A document is what the template needs for one policy and its binding.
type document struct {
	Name          string
	Kind          string
	FailurePolicy string
	Rules         []rule
	Condition     string
	Mutation      string
	Namespaces    selector
	Configs       selector
}

// A selector is a label selector, with its labels in order.
type selector struct {
	Labels      []label
	Expressions []metav1.LabelSelectorRequirement
}

type label struct{ Key, Value string }

// operators maps kubectl's to those of a LabelSelector, which has no comparisons.
var operators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.In:           metav1.LabelSelectorOpIn,
	selection.NotIn:        metav1.LabelSelectorOpNotIn,
	selection.NotEquals:    metav1.LabelSelectorOpNotIn,
	selection.Exists:       metav1.LabelSelectorOpExists,
	selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
}

func parseSelector(what, s string) (selector, error) {
	var out selector
	parsed, err := labels.Parse(s)
	if err != nil {
		return out, fmt.Errorf("%s selector %q: %w; write it as for kubectl --selector, such as team=web", what, s, err)
	}
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		values := slices.Sorted(maps.Keys(r.Values()))
		operator, ok := operators[r.Operator()]
		switch {
		case r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals:
			if slices.ContainsFunc(out.Labels, func(l label) bool { return l.Key == r.Key() }) {
				return out, fmt.Errorf("%s selector %q: %s can't have two values; use in for a choice", what, s, r.Key())
			}
			out.Labels = append(out.Labels, label{r.Key(), values[0]})
		case ok:
			out.Expressions = append(out.Expressions, metav1.LabelSelectorRequirement{Key: r.Key(), Operator: operator, Values: values})
		default:
			return out, fmt.Errorf("%s selector %q: a policy can't compare with %q; use =, !=, in or notin", what, s, r.Operator())
		}
	}
	return out, nil
}

//go:embed policy.yaml.tmpl
var policyTemplate string

// Write writes the policies and their bindings, YAML for kubectl apply.
// Its errors are about options that can't be read, and w's own.
func Write(w io.Writer, o Options) error {
	documents, err := o.documents()
	if err != nil {
		return err
	}
	t, err := template.New("policy").Funcs(template.FuncMap{
		"indent": func(columns int, s string) string {
			return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", columns))
		},
		"list": list,
	}).Parse(policyTemplate)
	if err != nil {
		return err
	}
	return t.Execute(w, map[string]any{"MinimumVersion": MinimumVersion, "Documents": documents})
}

func (o Options) documents() ([]document, error) {
	if o.FailurePolicy == "" {
		o.FailurePolicy = Ignore
	}
	if o.FailurePolicy != Ignore && o.FailurePolicy != Fail {
		return nil, fmt.Errorf("failure policy %q is neither %s nor %s", o.FailurePolicy, Ignore, Fail)
	}
	if o.NamespaceSelector == "" {
		o.NamespaceSelector = DefaultNamespaceSelector
	}
	namespaces, err := parseSelector("namespace", o.NamespaceSelector)
	if err != nil {
		return nil, err
	}
	namespaces.Expressions = append(namespaces.Expressions, metav1.LabelSelectorRequirement{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{metav1.NamespaceSystem},
	})
	selected, err := parseSelector("config", o.ConfigSelector)
	if err != nil {
		return nil, err
	}
	targets, err := o.targets()
	if err != nil {
		return nil, err
	}
	configs := []config{configMap}
	if !o.NoSecrets {
		configs = append(configs, secret)
	}
	var out []document
	for _, t := range targets {
		for _, c := range configs {
			out = append(out, document{
				Name:          "helm-checksum-" + c.lower + t.suffix,
				Kind:          c.kind,
				FailurePolicy: o.FailurePolicy,
				Rules:         t.rules(),
				Condition:     o.condition(c, t),
				Mutation:      mutation(c, t),
				Namespaces:    namespaces,
				Configs:       selected,
			})
		}
	}
	return out, nil
}
