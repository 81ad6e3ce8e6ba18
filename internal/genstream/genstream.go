// Package genstream makes streams of rendered manifests to measure with: made up, of
// the proportions of real charts, and the same bytes for the same arguments. It also
// makes hostile ones, whose cost per byte is high.
package genstream

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Shape is what most of a stream consists of.
type Shape string

// The shapes.
const (
	Config Shape = "config" // ConfigMaps with a file in each, consumed by a Deployment each
	CRD    Shape = "crd"    // CustomResourceDefinitions; one workload
	Small  Shape = "small"  // Services, ServiceAccounts and Roles; a workload for fifty of them
	Huge   Shape = "huge"   // one ConfigMap, consumed by one Deployment
	Mixed  Shape = "mixed"  // config, crd and twice as often small, by chance
)

// Shapes returns all of them.
func Shapes() []Shape { return []Shape{Config, CRD, Small, Huge, Mixed} }

// Write writes a stream of about size bytes: it ends with the object that reaches
// the size. Every stream begins with a Deployment and a ConfigMap that it consumes.
func Write(w io.Writer, shape Shape, size int, seed uint64) error {
	if !slices.Contains(Shapes(), shape) {
		return fmt.Errorf("unknown shape %q (want one of %v)", shape, Shapes())
	}
	g := &generator{out: bufio.NewWriterSize(w, 64<<10), rand: rand.New(rand.NewPCG(seed, 0))}
	g.deployment(0, 0)
	if shape == Huge {
		g.config(0, max(size-g.written-300, 500))
	} else {
		g.config(0, 500)
	}
	for i := 1; g.written < size && shape != Huge; i++ {
		g.object(shape, i)
	}
	return g.out.Flush() // it has the first error of any write
}

type generator struct {
	out     *bufio.Writer
	rand    *rand.Rand
	written int
}

var words = strings.Fields("backoff bucket cache deadline endpoint jitter level partition pool quota replica route shard sink tenant window")

func (g *generator) word() string { return words[g.rand.IntN(len(words))] }

func (g *generator) printf(format string, a ...any) {
	n, _ := fmt.Fprintf(g.out, format, a...) // the error stays with out
	g.written += n
}

// object writes the i-th object of a stream, and the workload that belongs to it.
func (g *generator) object(shape Shape, i int) {
	if shape == Mixed {
		shape = []Shape{Config, CRD, Small, Small}[g.rand.IntN(4)]
	}
	switch shape {
	case Config:
		g.config(i, 2000+g.rand.IntN(18000))
		g.deployment(i, i)
	case CRD:
		g.crd(i)
	case Small:
		g.small(i)
		if i%50 == 0 {
			g.deployment(i, 0)
		}
	}
}

// head begins a document as Helm and most charts do.
func (g *generator) head(apiVersion, kind, name string) {
	g.printf("---\n# Source: shop/templates/%s-%s.yaml\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", strings.ToLower(kind), name, apiVersion, kind, name)
	g.printf("  labels:\n    helm.sh/chart: shop-2.0.1\n    app.kubernetes.io/name: shop\n    app.kubernetes.io/instance: rel\n")
}

// setting is a line of somebody's configuration file.
func (g *generator) setting() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s%d =", g.word(), g.word(), g.rand.IntN(1000))
	for range 2 + g.rand.IntN(7) {
		b.WriteString(" " + g.word())
	}
	fmt.Fprintf(&b, " # was %d", g.rand.IntN(1e9))
	return b.String()
}

func (g *generator) config(i, size int) {
	g.head("v1", "ConfigMap", fmt.Sprintf("settings-%d", i))
	g.printf("data:\n  LOG_LEVEL: \"info\"\n  WORKERS: \"%d\"\n  GREETING: hello %d\n  shop.conf: |\n", g.rand.IntN(100), i)
	for end := g.written + size; g.written < end; {
		g.printf("    %s\n", g.setting())
	}
}

func (g *generator) deployment(i, settings int) {
	name, config := fmt.Sprintf("shop-%d", i), fmt.Sprintf("settings-%d", settings)
	g.head("apps/v1", "Deployment", name)
	g.printf(`spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/component: %[1]s
  template:
    metadata:
      labels:
        app.kubernetes.io/component: %[1]s
    spec:
      containers:
        - name: shop
          image: "registry.example/shop:2.0.%[3]d"
          envFrom:
            - configMapRef:
                name: %[2]s
          env:
            - name: LEVEL
              valueFrom:
                configMapKeyRef:
                  name: %[2]s
                  key: LOG_LEVEL
          ports:
            - name: http
              containerPort: 8080
          resources:
            limits:
              cpu: 200m
              memory: 256Mi
          volumeMounts:
            - name: settings
              mountPath: /etc/shop
      volumes:
        - name: settings
          configMap:
            name: %[2]s
`, name, config, i)
}

func (g *generator) small(i int) {
	switch name := fmt.Sprintf("shop-%d", i); g.rand.IntN(3) {
	case 0:
		g.head("v1", "Service", name)
		g.printf("spec:\n  type: ClusterIP\n  selector:\n    app.kubernetes.io/component: %s\n  ports:\n    - name: http\n      port: 80\n      targetPort: http\n", name)
	case 1:
		g.head("v1", "ServiceAccount", name)
	default:
		g.head("rbac.authorization.k8s.io/v1", "Role", name)
		g.printf("rules:\n  - apiGroups: [\"apps\"]\n    resources: [\"deployments\", \"statefulsets\"]\n    verbs: [\"get\", \"list\"]\n")
	}
}

func (g *generator) crd(i int) {
	g.head("apiextensions.k8s.io/v1", "CustomResourceDefinition", fmt.Sprintf("orders%d.shop.example", i))
	g.printf("spec:\n  group: shop.example\n  scope: Namespaced\n  names:\n    kind: Order%[1]d\n    plural: orders%[1]d\n  versions:\n    - name: v1\n      served: true\n      storage: true\n"+
		"      schema:\n        openAPIV3Schema:\n          type: object\n          properties:\n", i)
	for range 400 {
		g.printf("            %s%d:\n              type: string\n              description: |-\n                Says %s,\n                else %s.\n              maxLength: %d\n",
			g.word(), g.rand.IntN(1e6), g.setting(), g.setting(), g.rand.IntN(1000))
	}
}
