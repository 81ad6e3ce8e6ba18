package controlplane

import (
	"net"
	"path/filepath"
	"strconv"
)

// addresses are where the programs listen, all on the loopback interface.
type addresses struct {
	apiServer, etcdClients, etcdPeers, kwok string
}

const loopback = "127.0.0.1"

// freeAddresses asks the system for ports that are free, all at a time so that they differ.
func freeAddresses() (addresses, error) {
	var a addresses
	for _, address := range []*string{&a.apiServer, &a.etcdClients, &a.etcdPeers, &a.kwok} {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return a, err
		}
		defer l.Close()
		*address = net.JoinHostPort(loopback, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return a, nil
}

func (c *Cluster) file(name string) string { return filepath.Join(c.Dir, name) }

func (c *Cluster) etcdArguments() []string {
	clients, peers := "http://"+c.addresses.etcdClients, "http://"+c.addresses.etcdPeers
	return []string{
		"--name=e2e",
		"--data-dir=" + c.file("etcd"),
		"--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
		"--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers, "--initial-cluster=e2e=" + peers,
		"--unsafe-no-fsync", // nothing is to survive
		"--log-level=warn",
	}
}

func (c *Cluster) apiServerArguments() []string {
	_, port, _ := net.SplitHostPort(c.addresses.apiServer)
	return []string{
		"--etcd-servers=http://" + c.addresses.etcdClients,
		"--bind-address=" + loopback, "--advertise-address=" + loopback, "--secure-port=" + port,
		"--cert-dir=" + c.file("certificates"),
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file(serviceAccountKey),
		"--service-account-signing-key-file=" + c.file(serviceAccountKey),
		"--token-auth-file=" + c.file(tokens),
		"--authorization-mode=Node,RBAC",
	}
}

// Controllers are alone, so there is nobody to elect, and as quick as the machine lets them.
func (c *Cluster) controllerArguments() []string {
	return []string{
		"--kubeconfig=" + c.Kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500", "--kube-api-burst=1000",
	}
}

func (c *Cluster) controllerManagerArguments() []string {
	return append(c.controllerArguments(),
		"--service-account-private-key-file="+c.file(serviceAccountKey),
		"--root-ca-file="+c.file(servingCertificate),
	)
}

func (c *Cluster) kwokArguments() []string {
	return []string{
		"--kubeconfig=" + c.Kubeconfig,
		"--config=" + c.file(stages),
		"--manage-all-nodes=true",
		"--server-address=" + c.addresses.kwok,
		"--node-lease-duration-seconds=40",
	}
}
