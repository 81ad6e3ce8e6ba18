package release

import (
	"encoding/json"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/strvals"
)

// A valuesInput is the content of one entry of spec.valuesFrom.
type valuesInput struct {
	field      string // such as spec.valuesFrom[0], for errors
	targetPath string
	literal    bool
	content    string
}

// mergeValues merges values as helm-controller does (fluxcd/pkg/chartutil,
// ChartValuesFromReferences): the inputs in order, an input with a target path
// setting that one value, and the release's own values over all.
//
// An input with a target path first merges the release's own values in, so that it
// overwrites them. The merge at the end would undo that, were it not that nested maps
// of the own values are merged in by reference and so have been changed by it as well.
// Where they were not (a target path without a dot, or one within a map that an earlier
// input has too), the release's own value wins in the cluster, against Flux's
// documentation; it must win here too.
func mergeValues(inputs []valuesInput, own map[string]any) (map[string]any, error) {
	own, err := cloneValues(own)
	if err != nil {
		return nil, err
	}
	result := map[string]any{}
	for _, in := range inputs {
		if in.targetPath != "" {
			result = mergeMaps(result, own)
			if err := setPath(result, in.targetPath, in.content, in.literal); err != nil {
				// The parser's own message quotes the value, which may be a secret.
				return nil, fieldErrorf(in.field+".targetPath",
					"the value can't be set at %s as `helm --set` would; literal: true sets it as it is", in.targetPath)
			}
			continue
		}
		values, err := common.ReadValues([]byte(in.content))
		if err != nil {
			return nil, &fieldError{field: in.field, err: hideYAMLContent(err)}
		}
		result = mergeMaps(result, values)
	}
	return mergeMaps(result, own), nil
}

// mergeMaps returns base with over merged over it: maps key by key, everything else
// replaced. Neither is changed; maps that only one has are shared with the result.
func mergeMaps(base, over map[string]any) map[string]any {
	result := make(map[string]any, len(base)+len(over))
	for k, v := range base {
		result[k] = v
	}
	for k, v := range over {
		if overMap, ok := v.(map[string]any); ok {
			if baseMap, ok := result[k].(map[string]any); ok {
				v = mergeMaps(baseMap, overMap)
			}
		}
		result[k] = v
	}
	return result
}

// strvalsSyntax escapes what has a meaning to Helm's --set parser.
var strvalsSyntax = strings.NewReplacer(
	`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`,
)

// setPath sets the value at a path in values as `helm --set path=value` does; a value in
// quotes is a string without them, a literal one a string as it is.
func setPath(values map[string]any, path, value string, literal bool) error {
	if literal {
		return strvals.ParseIntoString(path+"="+strvalsSyntax.Replace(value), values)
	}
	for _, quote := range []string{`'`, `"`} {
		if strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote) {
			return strvals.ParseIntoString(path+"="+strings.Trim(value, `'"`), values)
		}
	}
	return strvals.ParseInto(path+"="+value, values)
}

// cloneValues copies values as the API server's JSON brings them to helm-controller.
func cloneValues(values map[string]any) (map[string]any, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	var clone map[string]any
	err = json.Unmarshal(text, &clone)
	return clone, err
}

// hideYAMLContent keeps a YAML error's position and drops the excerpt of the content that
// some of them carry: values may come from a Secret.
func hideYAMLContent(err error) error {
	message := err.Error()
	if i := strings.Index(message, "`"); i >= 0 {
		message = strings.TrimSpace(message[:i])
	}
	return errorString("the values can't be read: " + message)
}
