package cli

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// Options are the engine's options as flags.
type Options struct {
	Namespace   string
	Secrets     bool
	Strict      bool
	OptIn       bool
	Skip        []string
	Ignore      []string
	Workload    []string
	HMACKeyFile string
}

// DefaultOptions are the options where neither flags nor variables say otherwise.
func DefaultOptions() Options { return Options{Secrets: true} }

// AddFlags defines the flags.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.Namespace, "namespace", "n", "", "the release namespace is `NAME`; without, an absent one matches any")
	f.BoolVar(&o.Secrets, "secrets", DefaultOptions().Secrets, "stamp for Secrets too; --secrets=false: ConfigMaps only")
	f.StringVar(&o.HMACKeyFile, "hmac-key-file", "", "key the checksums with the bytes of `FILE`")
	o.AddSelectionFlags(f)
}

// AddSelectionFlags defines those of the flags that say which workloads and
// references count.
func (o *Options) AddSelectionFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.Strict, "strict", false, "fail when a required object is not in the stream")
	f.BoolVar(&o.OptIn, "opt-in", false, `stamp only workloads annotated helm-checksum/stamp: "true"`)
	f.StringSliceVar(&o.Skip, "skip", nil, "leave alone `KIND/NAME`, a workload or a config object")
	f.StringSliceVar(&o.Ignore, "ignore", nil, "leave out a `REFERENCE`: [KIND/NAME:]configmap/NAME or secret/NAME")
	f.StringSliceVar(&o.Workload, "workload", nil, "another kind with pod templates, `GROUP/KIND=PATH`")
}

// Renderer makes the engine for the options. The error names the option.
func (o *Options) Renderer() (*renderer.Renderer, error) {
	key, err := ReadHMACKey(o.HMACKeyFile)
	if err != nil {
		return nil, err
	}
	return renderer.New(renderer.Options{
		Namespace:     o.Namespace,
		IgnoreSecrets: !o.Secrets,
		Strict:        o.Strict,
		OptIn:         o.OptIn,
		Skip:          o.Skip,
		Ignore:        o.Ignore,
		Workloads:     o.Workload,
		HMACKey:       key,
	})
}

// ReadHMACKey reads a key file: its bytes less one final LF or CRLF. Without a file
// there is no key; an empty one is an error.
func ReadHMACKey(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	key, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--hmac-key-file: %w", err)
	}
	if rest, ok := bytes.CutSuffix(key, []byte("\n")); ok {
		key = bytes.TrimSuffix(rest, []byte("\r"))
	}
	if len(key) == 0 {
		return nil, fmt.Errorf("--hmac-key-file: %s is empty: the key would be no secret", file)
	}
	return key, nil
}

// EnvPrefix begins the variables that stand for flags: HELM_CHECKSUM_OPT_IN for --opt-in.
const EnvPrefix = "HELM_CHECKSUM_"

// LogVariable names the file that warnings are appended to.
const LogVariable = EnvPrefix + "LOG"

// InEnvironment says whether ApplyEnvironment would find anything.
func InEnvironment(environ []string) bool { return slices.ContainsFunc(environ, isOption) }

// isOption says whether a NAME=VALUE may stand for a flag.
func isOption(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, EnvPrefix) && name != LogVariable
}

// ApplyEnvironment sets the flags that were not given from the environment, and
// returns a warning for each variable of the prefix that no flag knows. Lists are
// comma-separated; booleans are "true" or "false". The flags are looked for in the
// given sets, the first that has one; variables of known flags that this command
// does not have are passed over.
func ApplyEnvironment(environ []string, flags *pflag.FlagSet, known ...string) (warnings []string, err error) {
	environ = slices.Sorted(slices.Values(environ))
	for _, e := range environ {
		if !isOption(e) {
			continue
		}
		name, value, _ := strings.Cut(e, "=")
		rest := strings.TrimPrefix(name, EnvPrefix)
		option := strings.ReplaceAll(strings.ToLower(rest), "_", "-")
		f := flags.Lookup(option)
		if f == nil || f.Hidden || option == "help" || strings.ToUpper(rest) != rest {
			if !slices.Contains(known, option) {
				warnings = append(warnings, fmt.Sprintf("the variable %s is not known", name))
			}
			continue
		}
		if f.Changed || value == "" {
			continue // an empty one is as if it were not there: CI systems can't unset it
		}
		if f.Value.Type() == "bool" && value != "true" && value != "false" {
			return nil, fmt.Errorf("%s is %q, want true or false", name, value)
		}
		if f.Value.Type() == "stringSlice" {
			value = trimItems(value)
		}
		if err := f.Value.Set(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return warnings, nil
}

// trimItems takes the white space around the items of a comma-separated list away.
func trimItems(list string) string {
	items := strings.Split(list, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return strings.Join(items, ",")
}
