package release

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// addGenerated adds the ConfigMaps and Secrets that a kustomization generates, under the
// names that they have before a hash is appended: those that a HelmRelease in Git uses.
// Kustomize itself generates them, one by one, so that one it refuses hides no other.
func (ix *index) addGenerated(name string, content []byte) {
	var k kustomization
	if yaml.Unmarshal(content, &k) != nil {
		return
	}
	for _, g := range k.ConfigMapGenerator {
		ix.addGenerator(name, "ConfigMap", k, g)
	}
	for _, g := range k.SecretGenerator {
		ix.addGenerator(name, "Secret", k, g)
	}
}

func (ix *index) addGenerator(name, kind string, k kustomization, generator map[string]any) {
	o := &object{apiVersion: "v1", kind: kind, path: name, line: 1, index: -1}
	o.name, _ = generator["name"].(string)
	o.namespace, _ = generator["namespace"].(string)
	if k.Namespace != "" {
		o.namespace = k.Namespace
	}
	if generator["behavior"] == "merge" {
		o.unusable = "is merged by an overlay (use --kustomization " + filepath.Dir(name) + ")"
		ix.add(o)
		return
	}
	generated, encrypted, err := generate(filepath.Dir(name), kind, generator)
	switch {
	case err != nil:
		o.unusable = "can't be generated: " + err.Error()
	case encrypted != "":
		o.unusable = "is generated from " + encrypted + ", which is encrypted with SOPS"
	default:
		o.content = generated
	}
	ix.add(o)
}

// generate runs one generator of the kustomization in dir, on copies of the files it names.
// encrypted is the name of a file among them that only the cluster can read.
func generate(dir, kind string, generator map[string]any) (content map[string]any, encrypted string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	memory := filesys.MakeFsInMemory()
	for _, file := range generatorFiles(generator) {
		data, err := os.ReadFile(filepath.Join(abs, file))
		if err != nil {
			return nil, "", err
		}
		if sopsEncrypted(data) {
			return nil, file, nil
		}
		if err := memory.WriteFile(filepath.Join(abs, file), data); err != nil {
			return nil, "", err
		}
	}
	generator = maps.Clone(generator)
	delete(generator, "behavior")
	generator["options"] = map[string]any{"disableNameSuffixHash": true}
	field := "configMapGenerator"
	if kind == "Secret" {
		field = "secretGenerator"
	}
	k, err := json.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
		field: []any{generator},
	})
	if err != nil {
		return nil, "", err
	}
	if err := memory.WriteFile(filepath.Join(abs, kustomizationNames[0]), k); err != nil {
		return nil, "", err
	}
	result, err := build(memory, abs)
	if err != nil {
		return nil, "", err
	}
	content, err = parseDocument(result)
	return content, "", err
}

// generatorFiles lists the files that a generator reads.
func generatorFiles(generator map[string]any) []string {
	var files []string
	add := func(v any) {
		if s, ok := v.(string); ok && s != "" {
			if _, file, ok := strings.Cut(s, "="); ok { // KEY=FILE
				s = file
			}
			files = append(files, s)
		}
	}
	for _, field := range []string{"files", "envs"} {
		list, _ := generator[field].([]any)
		for _, v := range list {
			add(v)
		}
	}
	add(generator["env"])
	return files
}

// sopsEncrypted recognizes what SOPS writes: a sops map in YAML and JSON, sops_ lines in
// an env file.
func sopsEncrypted(data []byte) bool {
	text := string(data)
	if !strings.Contains(text, "sops") {
		return false
	}
	if strings.HasPrefix(text, "sops_") || strings.Contains(text, "\nsops_mac=") {
		return true
	}
	var content map[string]any
	if yaml.Unmarshal(data, &content) != nil {
		return false
	}
	_, ok := content["sops"].(map[string]any)
	return ok
}
