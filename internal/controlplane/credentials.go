package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Files below Cluster.Dir.
const (
	serviceAccountKey  = "service-account.key"
	tokens             = "tokens.csv"
	servingCertificate = "certificates/apiserver.crt"
	stages             = "stages.yaml"
)

// writeCredentials makes up a key for service accounts' tokens and a token for the
// administrator, which it returns.
func (c *Cluster) writeCredentials() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	b := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(c.file(serviceAccountKey), b, 0o600); err != nil {
		return "", err
	}
	token := rand.Text()
	return token, os.WriteFile(c.file(tokens), []byte(token+",admin,admin,system:masters\n"), 0o600)
}

// writeKubeconfig waits for the certificate that the API server signs itself when it
// starts, and writes a kubeconfig that trusts it.
func (c *Cluster) writeKubeconfig(ctx context.Context, token string) error {
	var certificate []byte
	err := c.wait(ctx, "the API server's certificate", func(context.Context) (err error) {
		if certificate, err = os.ReadFile(c.file(servingCertificate)); err != nil {
			return err
		}
		if block, _ := pem.Decode(certificate); block == nil {
			return os.ErrNotExist
		}
		return nil
	})
	if err != nil {
		return err
	}
	const name = "e2e"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: "https://" + c.addresses.apiServer, CertificateAuthorityData: certificate}
	config.AuthInfos[name] = &api.AuthInfo{Token: token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, c.Kubeconfig)
}
