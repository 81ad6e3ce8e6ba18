package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A Connection says which cluster to look at: kubectl's flags, the kubeconfig file,
// and, under Helm, what Helm was told.
type Connection struct {
	// Env looks an environment variable up; os.LookupEnv outside of tests.
	Env func(string) (string, bool)

	kubeconfig string
	overrides  clientcmd.ConfigOverrides
	flags      *pflag.FlagSet
}

// AddFlags adds kubectl's connection flags, the namespace apart.
func (c *Connection) AddFlags(flags *pflag.FlagSet) {
	c.flags = flags
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig file (default $KUBECONFIG, ~/.kube/config, or the pod's service account)")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{}
	names.AuthOverrideFlags.Username = clientcmd.FlagInfo{}
	names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}
	clientcmd.BindOverrideFlags(&c.overrides, flags, names)
}

// helmVariables are what Helm tells a plugin of its own global flags
// (https://helm.sh/docs/topics/plugins/#environment-variables), beside KUBECONFIG.
var helmVariables = []struct {
	variable, flag string
	set            func(*clientcmd.ConfigOverrides, string) error
}{
	{"HELM_KUBECONTEXT", "context", func(o *clientcmd.ConfigOverrides, v string) error { o.CurrentContext = v; return nil }},
	{"HELM_KUBEAPISERVER", "server", func(o *clientcmd.ConfigOverrides, v string) error { o.ClusterInfo.Server = v; return nil }},
	{"HELM_KUBETOKEN", "token", func(o *clientcmd.ConfigOverrides, v string) error { o.AuthInfo.Token = v; return nil }},
	{"HELM_KUBEASUSER", "as", func(o *clientcmd.ConfigOverrides, v string) error { o.AuthInfo.Impersonate = v; return nil }},
	{"HELM_KUBEASGROUPS", "as-group", func(o *clientcmd.ConfigOverrides, v string) error {
		o.AuthInfo.ImpersonateGroups = strings.Split(v, ",")
		return nil
	}},
	{"HELM_KUBECAFILE", "certificate-authority", func(o *clientcmd.ConfigOverrides, v string) error {
		o.ClusterInfo.CertificateAuthority = v
		return nil
	}},
	{"HELM_KUBEINSECURE_SKIP_TLS_VERIFY", "insecure-skip-tls-verify", func(o *clientcmd.ConfigOverrides, v string) (err error) {
		o.ClusterInfo.InsecureSkipTLSVerify, err = strconv.ParseBool(v)
		return err
	}},
	{"HELM_KUBETLS_SERVER_NAME", "tls-server-name", func(o *clientcmd.ConfigOverrides, v string) error {
		o.ClusterInfo.TLSServerName = v
		return nil
	}},
}

// Config returns what client-go takes, and the namespace to look into when none is
// named: Helm's under Helm, else the context's.
func (c *Connection) Config() (*rest.Config, string, error) {
	overrides := c.overrides
	_, underHelm := c.Env("HELM_PLUGIN_DIR")
	if underHelm {
		for _, v := range helmVariables {
			value, _ := c.Env(v.variable)
			if value == "" || c.flags != nil && c.flags.Changed(v.flag) {
				continue
			}
			if err := v.set(&overrides, value); err != nil {
				return nil, "", fmt.Errorf("%s=%s: %w", v.variable, value, err)
			}
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", explainConfig(err)
	}
	if underHelm {
		if ns, _ := c.Env("HELM_NAMESPACE"); ns != "" {
			return config, ns, nil
		}
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", explainConfig(err)
	}
	return config, namespace, nil
}

func explainConfig(err error) error {
	if clientcmd.IsEmptyConfig(err) || errors.Is(err, rest.ErrNotInCluster) {
		return errors.New("no cluster is configured: give --kubeconfig, set KUBECONFIG, or make ~/.kube/config")
	}
	lines := slices.DeleteFunc(strings.Split(err.Error(), "\n"), func(s string) bool { return s == "" })
	return fmt.Errorf("the kubeconfig can't be used: %s", oneLine(strings.Join(lines, "; ")))
}
