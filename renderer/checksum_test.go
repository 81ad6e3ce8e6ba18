package renderer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// The values were computed by another program, from the text of CONTRACT.md section 4.
func TestChecksum(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    string
		content map[string][]byte
		keys    []string
		hmacKey string
		want    string
	}{
		{"one key", "ConfigMap", map[string][]byte{"a": []byte("1")}, []string{"*"}, "", sumA1},
		{"two keys", "ConfigMap", map[string][]byte{"b": []byte("2"), "a": []byte("1")}, []string{"*"}, "", sumA1B2},
		{"one of two keys", "ConfigMap", map[string][]byte{"b": []byte("2"), "a": []byte("1")}, []string{"b"}, "", sumB2},
		{"all beside a key", "ConfigMap", map[string][]byte{"b": []byte("2"), "a": []byte("1")}, []string{"b", "*"}, "", sumA1B2},
		{"keys out of order and twice", "ConfigMap", map[string][]byte{"b": []byte("2"), "a": []byte("1")}, []string{"b", "a", "b"}, "", sumA1B2},
		{"keys that it has and has not", "ConfigMap", map[string][]byte{"a": []byte("1"), "c": []byte("2")}, []string{"z", "c", "a"}, "", "6e59c2d4b83bf16ceb9d82567845607f98fe7954ce9c32aba895cc347bf61729"},
		{"absent", "ConfigMap", nil, []string{"a"}, "", "b92722830032842f2742064fe05e391985d07a86e2cf42231a78d3efe0dff1e3"},
		{"empty", "ConfigMap", map[string][]byte{"a": {}}, []string{"a"}, "", "f57da8e6c3dac80115a1f661dc7d6021092fa8700f93e1adc2aedd2d74e2fff8"},
		{"no keys at all", "ConfigMap", nil, []string{"*"}, "", sumEmpty},
		{"binary", "ConfigMap", map[string][]byte{"t": []byte("text"), "b": {0, 1, 2, 255}}, []string{"*"}, "", "a32214afe91141c6f6a253627f9e045dc5765c95f014d963307b8e168074bbfc"},
		{"not ASCII", "ConfigMap", map[string][]byte{"k": []byte("größe ☃\n")}, []string{"*"}, "", "ba56c4d9ebabc634c789b9ee19b89cae9c4b212e1b1bb4826aea698e0f9c03cf"},
		{"a secret, in byte order", "Secret", map[string][]byte{"B": []byte("1"), "a": []byte("2"), "A-b": []byte("3"), "_": []byte("4"), ".": []byte("5")}, []string{"*"}, "", "66536e9eff7e6d5b321b0ecf99901a3b461968701711874ca1ff203633e67a4e"},
		{"a secret", "Secret", map[string][]byte{"password": []byte("s3cr3t")}, []string{"*"}, "", sumPassword},
		{"keyed", "Secret", map[string][]byte{"password": []byte("s3cr3t")}, []string{"*"}, "k3y", "a2be242cf913fb29b857736350f57d5dc154aa8d35606ea0c4472f09fb7689b9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys := strings.Join(c.keys, ",")
			if got := renderer.Checksum(c.kind, c.content, c.keys, []byte(c.hmacKey)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if strings.Join(c.keys, ",") != keys {
				t.Errorf("the caller's keys became %q", c.keys)
			}
		})
	}
}

func TestAnnotationKey(t *testing.T) {
	for _, c := range []struct{ kind, name, other, want string }{
		{"ConfigMap", "app-config", "", "helm-checksum/configmap.app-config"},
		{"Secret", "a.b", "", "helm-checksum/secret.a.b"},
		{"ConfigMap", strings.Repeat("c", 53), "", "helm-checksum/configmap." + strings.Repeat("c", 53)},
		{"ConfigMap", strings.Repeat("c", 54), "", "helm-checksum/configmap." + strings.Repeat("c", 42) + "-b00c422fac"},
		{"Secret", strings.Repeat("s", 56), "", "helm-checksum/secret." + strings.Repeat("s", 56)},
		{"Secret", strings.Repeat("s", 57), "", "helm-checksum/secret." + strings.Repeat("s", 45) + "-140884d593"},
		{"Secret", "ca", "other-namespace", "helm-checksum/secret.ca-c23ab5e7d8"},
		{"Secret", "web", "a", "helm-checksum/secret.web-3c8b8fa412"},
	} {
		if got := renderer.AnnotationKey(c.kind, c.name, c.other); got != c.want {
			t.Errorf("%s %s of %q: got %s, want %s", c.kind, c.name, c.other, got, c.want)
		}
	}
}

// vectors are the right answers beside the contract, where that is to be had.
type vectors struct {
	Checksums []struct {
		Case     string          `json:"case"`
		Manifest map[string]any  `json:"manifest"`
		Keys     json.RawMessage `json:"keys"` // "*" or a list
		HMACKey  string          `json:"hmacKey"`
		Checksum string          `json:"checksum"`
	} `json:"checksums"`
	AnnotationKeys []struct {
		Kind, Name, OtherNamespace, Key string
	} `json:"annotationKeys"`
}

// Each vector goes through a whole run, as YAML in block style and as JSON.
func TestVectors(t *testing.T) {
	path := filepath.Join("..", "..", "shared", "contract", "vectors.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no vectors beside the repository: %v", err)
	}
	var all vectors
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Checksums) == 0 || len(all.AnnotationKeys) == 0 {
		t.Fatalf("%s holds no vectors", path)
	}
	for _, v := range all.Checksums {
		t.Run(v.Case, func(t *testing.T) {
			keys := []string{"*"}
			if string(v.Keys) != `"*"` {
				if err := json.Unmarshal(v.Keys, &keys); err != nil {
					t.Fatal(err)
				}
			}
			v.Manifest["apiVersion"] = "v1"
			v.Manifest["metadata"] = map[string]any{"name": "settings"}
			kind := v.Manifest["kind"].(string)
			asYAML, err := yaml.Marshal(v.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			asJSON, err := json.Marshal(v.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			word := strings.ToLower(kind[:1]) + kind[1:] // as in configMapRef and secretRef
			spec := "containers:\n- envFrom:\n  - " + word + "Ref:\n      name: settings\n"
			if keys[0] != "*" {
				spec = "containers:\n- env:\n"
				for _, key := range keys {
					spec += "  - valueFrom:\n      " + word + "KeyRef:\n        name: settings\n        key: \"" + key + "\"\n"
				}
			}
			for _, manifest := range []string{string(asYAML), string(asJSON)} {
				wantStamps(t, renderer.Options{HMACKey: []byte(v.HMACKey)}, deployment("web", spec)+"---\n"+manifest,
					stamps{web: {strings.ToLower(kind) + ".settings": v.Checksum}})
			}
		})
	}
	for _, v := range all.AnnotationKeys {
		if got := renderer.AnnotationKey(v.Kind, v.Name, v.OtherNamespace); got != v.Key {
			t.Errorf("%s %s of %q: got %s, want %s", v.Kind, v.Name, v.OtherNamespace, got, v.Key)
		}
	}
}
