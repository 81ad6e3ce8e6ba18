package release

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
)

const defaultValuesKey = "values.yaml"

// values returns the release's values as helm-controller composes them.
func (r *Release) values() (values map[string]any, warnings []string, err error) {
	var inputs []valuesInput
	for i, ref := range r.spec.ValuesFrom {
		field := fmt.Sprintf("spec.valuesFrom[%d]", i)
		key := ref.ValuesKey
		if key == "" {
			key = defaultValuesKey
		}
		if ref.Kind != "ConfigMap" && ref.Kind != "Secret" {
			return nil, nil, fieldErrorf(field+".kind", "%q is neither ConfigMap nor Secret", ref.Kind)
		}
		if ref.Name == "" {
			return nil, nil, fieldErrorf(field+".name", "is missing: the %s that has the values", ref.Kind)
		}
		content, reason, warning, err := r.valuesObject(ref, key)
		if err != nil {
			return nil, nil, &fieldError{field: field, err: err}
		}
		if warning != "" {
			warnings = append(warnings, field+": "+warning)
		}
		switch {
		case reason == nil:
			inputs = append(inputs, valuesInput{field: field, targetPath: ref.TargetPath, literal: ref.Literal, content: content})
		case ref.Optional && reason.absent:
			warnings = append(warnings, fmt.Sprintf("%s: optional %s %s %s: rendered without it", field, ref.Kind, ref.Name, reason.text))
		default:
			return nil, nil, &MissingValuesError{
				Release: r.id(), Field: field, Kind: ref.Kind, Name: ref.Name, Reason: reason.text,
			}
		}
	}
	values, err = mergeValues(inputs, r.spec.Values)
	return values, warnings, err
}

// A missing says why the content of a values object can't be had. It is absent when it
// is not there at all, which optional allows; content that exists but can't be read is not.
type missing struct {
	text   string
	absent bool
}

// valuesObject returns the content under one key of a ConfigMap or Secret.
func (r *Release) valuesObject(ref valuesRef, key string) (content string, reason *missing, warning string, err error) {
	o, content, err := r.suppliedValues(ref)
	if err != nil || o == nil && content != "" {
		return content, nil, "", err
	}
	if o == nil {
		o, err = r.find(ref.Kind, r.Namespace, ref.Name)
		if ambiguous := (*ambiguousError)(nil); errors.As(err, &ambiguous) {
			return "", &missing{text: ambiguous.Error()}, "", nil
		}
		if err != nil {
			text := r.missingReason(ref.Kind, r.Namespace, ref.Name)
			return "", &missing{text: text, absent: !strings.Contains(text, "is made in the cluster")}, "", nil
		}
	}
	if o.unusable != "" {
		return "", &missing{text: o.unusable}, "", nil
	}
	content, ok, err := dataOf(o, key)
	if err != nil {
		return "", nil, "", err
	}
	if !ok {
		return "", &missing{text: fmt.Sprintf("(%s) has no key %s", o.place(), key), absent: true}, "", nil
	}
	if r.set.options.Vars == nil && !substitutionDisabled(o.content) {
		if names := variablesOf(o.content); len(names) > 0 {
			warning = fmt.Sprintf("%s %s uses variables that were not substituted (%s): give them with --var or --vars-from if Flux substitutes them",
				ref.Kind, ref.Name, strings.Join(names, ", "))
		}
	}
	return content, nil, warning, nil
}

// suppliedValues returns what Options.ValuesFrom has for a reference: an object, or else
// the values themselves.
func (r *Release) suppliedValues(ref valuesRef) (*object, string, error) {
	for key, file := range r.set.options.ValuesFrom {
		kind, name, _ := cutKindKey(key)
		if kind != ref.Kind || name != ref.Name && name != r.Namespace+"/"+ref.Name {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, "", err
		}
		if sopsEncrypted(data) {
			return nil, "", fmt.Errorf("%s, given for %s %s, is encrypted with SOPS too", file, ref.Kind, ref.Name)
		}
		for _, d := range splitDocuments(data) {
			content, err := parseDocument(d.text)
			if err != nil {
				continue
			}
			for _, o := range parseObjects(file, d, content) {
				if o.kind == ref.Kind && o.name == ref.Name && o.apiVersion == "v1" {
					return o, "", nil
				}
			}
		}
		if len(data) == 0 {
			data = []byte("\n") // empty values, not none
		}
		return nil, string(data), nil
	}
	return nil, "", nil
}

// cutKindKey reads KIND/NAME or KIND/NAMESPACE/NAME for a ConfigMap or Secret, in any case.
func cutKindKey(key string) (kind, name string, ok bool) {
	word, name, ok := strings.Cut(key, "/")
	if !ok || name == "" {
		return "", "", false
	}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		if strings.EqualFold(kind, word) {
			return kind, name, true
		}
	}
	return "", "", false
}

// dataOf returns the content of one key as helm-controller reads it: data of a ConfigMap;
// data of a Secret, base64-decoded, with stringData over it.
func dataOf(o *object, key string) (string, bool, error) {
	text := func(field string) (string, bool, error) {
		m, _ := o.content[field].(map[string]any)
		v, ok := m[key]
		if !ok {
			return "", false, nil
		}
		if v == nil {
			return "", true, nil
		}
		s, isText := v.(string)
		if !isText {
			return "", false, fmt.Errorf("%s %s (%s): %s[%s] is not a string; the cluster will refuse it", o.kind, o.name, o.place(), field, key)
		}
		return s, true, nil
	}
	if o.kind == "ConfigMap" {
		return text("data")
	}
	if s, ok, err := text("stringData"); ok || err != nil {
		return s, ok, err
	}
	s, ok, err := text("data")
	if !ok || err != nil {
		return "", ok, err
	}
	decoded, err := base64.StdEncoding.DecodeString(s)
	if err != nil { // the error would show a part of the content
		return "", false, fmt.Errorf("%s %s (%s): data[%s] is not base64; the cluster will refuse it", o.kind, o.name, o.place(), key)
	}
	return string(decoded), true, nil
}
