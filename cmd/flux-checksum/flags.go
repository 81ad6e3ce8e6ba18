package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// stampFlags are the flags that say what is stamped and how.
type stampFlags struct {
	cli.Options
	secrets string
}

var secretsValues = []string{"none", "keyed", "plain"}

func (f *stampFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.HMACKeyFile, "hmac-key-file", "", "key the checksums with the bytes of `FILE`, and stamp for Secrets too")
	fs.StringVar(&f.secrets, "secrets", "", "`none`, keyed (with --hmac-key-file) or plain: plain checksums of Secrets in Git for ever (default: keyed if there is a key, else none)")
	f.AddSelectionFlags(fs)
	complete(cmd, "secrets", secretsValues...)
}

// options reads them. The error names the flag.
func (f *stampFlags) options() (renderer.Options, error) {
	o := renderer.Options{
		Strict: f.Strict, OptIn: f.OptIn, Skip: f.Skip, Ignore: f.Ignore, Workloads: f.Workload,
	}
	var err error
	if o.HMACKey, err = cli.ReadHMACKey(f.HMACKeyFile); err != nil {
		return o, err
	}
	if f.secrets == "false" { // as helm-checksum has it
		f.secrets = "none"
	}
	switch {
	case f.secrets == "" || f.secrets == "none":
		o.IgnoreSecrets = f.secrets == "none" || len(o.HMACKey) == 0
	case f.secrets == "keyed" && len(o.HMACKey) == 0:
		return o, fmt.Errorf("--secrets=keyed: the key is missing: give --hmac-key-file")
	case f.secrets == "plain" && len(o.HMACKey) > 0:
		return o, fmt.Errorf("--secrets=plain with --hmac-key-file: give one of them")
	case !slices.Contains(secretsValues, f.secrets):
		return o, fmt.Errorf("--secrets %q: want %s", f.secrets, strings.Join(secretsValues, ", "))
	}
	_, err = renderer.New(o)
	return o, err
}

// releaseFlags are the flags about HelmReleases and what they are made from.
type releaseFlags struct {
	sources, charts, valuesFrom []string
	missingValues               string
	vars, varsFrom              []string
	kubeVersion                 string
	apiVersions                 []string
	strategy                    string
	jobs                        int
}

func (f *releaseFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.sources, "source", nil, "where the content of a source is: `GitRepository/NAME=DIR`")
	fs.StringArrayVar(&f.charts, "chart", nil, "another chart for one release: `[NAMESPACE/]NAME=CHART`")
	fs.StringArrayVar(&f.valuesFrom, "values-from", nil, "supply an object of spec.valuesFrom: `KIND/NAME=FILE`")
	fs.StringVar(&f.missingValues, "missing-values", "fail", "fail or `skip` releases whose values can't be had")
	fs.StringArrayVar(&f.vars, "var", nil, "a variable for Flux's substitution: `NAME=VALUE`")
	fs.StringArrayVar(&f.varsFrom, "vars-from", nil, "variables from `FILE`: lines NAME=VALUE, a YAML map, or a ConfigMap")
	fs.StringVar(&f.kubeVersion, "kube-version", "", "the cluster's version, for charts that ask")
	fs.StringSliceVar(&f.apiVersions, "api-versions", nil, "API versions that the cluster has, for charts that ask")
	fs.StringVar(&f.strategy, "post-render-strategy", "", "the controller's default: `combined`, separate or nohooks")
	fs.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "renders side by side")
	complete(cmd, "missing-values", "fail", "skip")
	complete(cmd, "post-render-strategy", "combined", "separate", "nohooks")
}

// options reads them. The error names the flag.
func (f *releaseFlags) options() (release.Options, error) {
	o := release.Options{
		KubeVersion: f.kubeVersion, APIVersions: f.apiVersions, PostRenderStrategy: f.strategy,
		SkipMissingValues: f.missingValues == "skip",
	}
	if f.missingValues != "skip" && f.missingValues != "fail" {
		return o, fmt.Errorf("--missing-values %q: want fail or skip", f.missingValues)
	}
	if f.jobs < 1 {
		return o, fmt.Errorf("--jobs %d: want at least 1", f.jobs)
	}
	for _, m := range []struct {
		flag, want string
		from       []string
		to         *map[string]string
	}{
		{"--source", "KIND/NAME=DIR", f.sources, &o.Sources},
		{"--chart", "[NAMESPACE/]NAME=CHART", f.charts, &o.Charts},
		{"--values-from", "KIND/NAME=FILE", f.valuesFrom, &o.ValuesFrom},
		{"--var", "NAME=VALUE", f.vars, &o.Vars},
	} {
		for _, e := range m.from {
			key, value, ok := strings.Cut(e, "=")
			if !ok || key == "" {
				return o, fmt.Errorf("%s %q: want %s", m.flag, e, m.want)
			}
			if *m.to == nil {
				*m.to = map[string]string{}
			}
			(*m.to)[key] = value
		}
	}
	given := o.Vars
	for _, file := range f.varsFrom {
		vars, err := readVars(file)
		if err != nil {
			return o, fmt.Errorf("--vars-from: %w", err)
		}
		if o.Vars == nil {
			o.Vars = map[string]string{}
		}
		for k, v := range vars {
			if _, ok := given[k]; !ok {
				o.Vars[k] = v
			}
		}
	}
	return o, nil
}

// readVars reads variables: lines NAME=VALUE, a YAML map, or the data of a ConfigMap or Secret.
func readVars(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var object struct {
		Kind       string            `json:"kind"`
		Data       map[string]string `json:"data"`
		StringData map[string]string `json:"stringData"`
	}
	if yaml.Unmarshal(content, &object) == nil && (object.Kind == "ConfigMap" || object.Kind == "Secret") {
		vars := map[string]string{}
		for k, v := range object.Data {
			if object.Kind == "Secret" {
				raw, err := base64.StdEncoding.DecodeString(v)
				if err != nil {
					return nil, fmt.Errorf("%s: data[%s] is not base64", file, k)
				}
				v = string(raw)
			}
			vars[k] = v
		}
		for k, v := range object.StringData {
			vars[k] = v
		}
		return vars, nil
	}
	var values map[string]yamlv3.Node
	if yamlv3.Unmarshal(content, &values) == nil {
		vars := map[string]string{}
		for k, v := range values {
			if v.Kind != yamlv3.ScalarNode {
				return nil, fmt.Errorf("%s: %s is not a plain value", file, k)
			}
			if v.Tag != "!!null" {
				vars[k] = v.Value
			} else {
				vars[k] = ""
			}
		}
		return vars, nil
	}
	vars := map[string]string{}
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, fmt.Errorf("%s: line %d: want NAME=VALUE", file, i+1)
		}
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		vars[name] = value
	}
	return vars, nil
}

// complete makes the shell offer values for a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
