package release

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/yaml"
)

// substituteKey on an object, with the value "disabled", keeps variables in it as they are
// (https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution).
const substituteKey = "kustomize.toolkit.fluxcd.io/substitute"

var (
	variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)
	variableUse  = regexp.MustCompile(`(\$*)\$\{([_[:alpha:]][_[:alpha:][:digit:]]*)[}:=\-+/#%^,?]`)
)

// checkVars refuses names that kustomize-controller refuses.
func checkVars(vars map[string]string) error {
	for name := range vars {
		if !variableName.MatchString(name) {
			return fmt.Errorf("variable %q: a name has only letters, digits and underscores, and starts with no digit", name)
		}
	}
	return nil
}

// substitute replaces ${VAR} in an object as kustomize-controller does after its build:
// in the text of the whole object, line breaks of the values left out, and nothing for a
// variable without a value.
func substitute(content map[string]any, vars map[string]string) (map[string]any, error) {
	if vars == nil || substitutionDisabled(content) || len(variablesOf(content)) == 0 && !containsString(content, "$") {
		return content, nil
	}
	text, err := yaml.Marshal(content)
	if err != nil {
		return nil, err
	}
	replaced, err := envsubst.Eval(string(text), func(name string) (string, bool) {
		return strings.ReplaceAll(vars[name], "\n", ""), true
	})
	if err != nil {
		return nil, fmt.Errorf("variable substitution: %w", err)
	}
	result, err := parseDocument([]byte(replaced))
	if err != nil {
		return nil, fmt.Errorf("after variable substitution: %w", err)
	}
	return result, nil
}

func substitutionDisabled(content map[string]any) bool {
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		m, _ := metadata[field].(map[string]any)
		if m[substituteKey] == "disabled" {
			return true
		}
	}
	return false
}

// variablesOf lists the variables that the strings of a value use, sorted.
func variablesOf(v any) []string {
	var names []string
	walkStrings(v, func(s string) {
		for _, m := range variableUse.FindAllStringSubmatch(s, -1) {
			if len(m[1])%2 == 0 { // $${VAR} is an escaped ${VAR}
				names = append(names, m[2])
			}
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

func containsString(v any, part string) bool {
	found := false
	walkStrings(v, func(s string) { found = found || strings.Contains(s, part) })
	return found
}

// walkStrings calls f with every string in v, keys included.
func walkStrings(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			walkStrings(item, f)
		}
	case map[string]any:
		for k, item := range v {
			f(k)
			walkStrings(item, f)
		}
	}
}
