package release

import (
	"fmt"
	"regexp"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

// filenameAnnotation is where Helm 4 keeps a document's template while post-renderers run.
const filenameAnnotation = "postrenderer.helm.sh/postrender-filename"

const refusedRemedy = "Helm takes it but Flux's kustomize refuses it, so the release fails in the cluster too: " +
	"it is the chart that must be mended, or given values that avoid it"

// refusedObject explains a stream that kustomize refuses though Helm does not: which object
// of the chart it is, and why. Nil when kustomize takes the stream.
func refusedObject(stream []byte) error {
	kustomizeLock.Lock()
	defer kustomizeLock.Unlock()
	first := map[string]*renderedObject{}
	for _, d := range splitDocuments(stream) {
		o := newRenderedObject(d)
		if err := o.refused(d.text); err != nil {
			return err
		}
		if o.kind == "" {
			continue
		}
		other, twice := first[o.identity()]
		if twice {
			return o.twice(other)
		}
		first[o.identity()] = o
	}
	return nil
}

// A renderedObject is an object as the chart renders it.
type renderedObject struct {
	*object
	number int    // of its document
	source string // its template
	anchor string // that it uses and does not define
}

// newRenderedObject reads as much of a document as can be read.
func newRenderedObject(d document) *renderedObject {
	text, anchor := withoutUnknownAliases(d.text)
	content, err := parseDocument(text)
	if err != nil {
		content = nil
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	source, _ := annotations[filenameAnnotation].(string)
	return &renderedObject{newObject(content), d.number, source, anchor}
}

func (o *renderedObject) String() string {
	what := strings.TrimSpace(o.kind + " " + strings.TrimPrefix(o.namespace+"/"+o.name, "/"))
	if what == "" {
		what = fmt.Sprintf("document %d", o.number)
	}
	if o.source != "" {
		what += " (" + o.source + ")"
	}
	return what
}

// identity is what kustomize takes to be one object. To it an object without a namespace
// is in "default" (ResId.EffectiveNamespace in sigs.k8s.io/kustomize/kyaml/resid).
func (o *renderedObject) identity() string {
	group, version := resid.ParseGroupVersion(o.apiVersion)
	id := resid.NewResIdWithNamespace(resid.NewGvk(group, version, o.kind), o.name, o.namespace)
	id.Namespace = id.EffectiveNamespace()
	return id.String()
}

func (o *renderedObject) twice(other *renderedObject) error {
	same := ""
	if o.namespace != other.namespace {
		same = ", which are the same to kustomize, for it takes an object without a namespace to be in default"
	}
	return fmt.Errorf("the chart renders %s twice: %s and %s%s; %s",
		strings.TrimSpace(o.kind+" "+o.name), other, o, same, refusedRemedy)
}

// refused explains why kustomize does not take the object, if it does not.
func (o *renderedObject) refused(text []byte) error {
	if o.anchor != "" {
		return fmt.Errorf("the chart shares the YAML anchor &%s between items of a List, and %s refers to it: "+
			"Helm 4 hands each item to post-renderers as a document of its own, where the anchor is unknown; %s",
			o.anchor, o, refusedRemedy)
	}
	var strict map[string]any
	if err := yamlv3.Unmarshal(text, &strict); err != nil && strings.Contains(err.Error(), "already defined") {
		return fmt.Errorf("the chart gives a key twice in %s: %s; %s", o, firstDefined(err), refusedRemedy)
	}
	factory := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory())
	_, err := factory.NewResMapFromBytes(text)
	if err == nil {
		return nil
	}
	// Errors may quote the content, which no message may show of a Secret, after the first line.
	why, _, _ := strings.Cut(err.Error(), "\n")
	if o.kind == "Secret" || o.kind == "" {
		why = "it is no object that kustomize can read"
	}
	return fmt.Errorf("%s of the chart: %s; %s", o, why, refusedRemedy)
}

var unknownAnchor = regexp.MustCompile(`unknown anchor '([^']+)' referenced`)

// withoutUnknownAliases is a text that can be parsed to name the object, with null in place
// of aliases whose anchor is not in it, and the first such anchor.
func withoutUnknownAliases(text []byte) (parseable []byte, anchor string) {
	parseable = text
	for {
		var node yamlv3.Node
		err := yamlv3.Unmarshal(parseable, &node)
		if err == nil {
			return parseable, anchor
		}
		match := unknownAnchor.FindStringSubmatch(err.Error())
		if match == nil {
			return parseable, anchor
		}
		if anchor == "" {
			anchor = match[1]
		}
		alias := regexp.MustCompile(`\*` + regexp.QuoteMeta(match[1]) + `([\s,}\]]|$)`)
		without := alias.ReplaceAll(parseable, []byte("~$1"))
		if len(without) == len(parseable) {
			return parseable, anchor
		}
		parseable = without
	}
}

// firstDefined is the line of a YAML error that names the doubled key.
func firstDefined(err error) string {
	for _, line := range strings.Split(err.Error(), "\n") {
		if strings.Contains(line, "already defined") {
			return strings.TrimSpace(line)
		}
	}
	return err.Error()
}
