package renderer_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/helm-checksum/helm-checksum/renderer"
)

const stream = `---
# Source: store/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: store
data:
  FEATURE_RECS: "on"
---
# Source: store/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: store
spec:
  template:
    spec:
      containers:
      - name: store
        envFrom:
        - configMapRef:
            name: store
`

// A Renderer is what the Helm SDKs take as a post-renderer: action.Install's
// PostRenderer, for one.
func ExampleRenderer_Run() {
	r, err := renderer.New(renderer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	out, err := r.Run(bytes.NewBufferString(stream))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(out)
	// Output:
	// ---
	// # Source: store/templates/configmap.yaml
	// apiVersion: v1
	// kind: ConfigMap
	// metadata:
	//   name: store
	// data:
	//   FEATURE_RECS: "on"
	// ---
	// # Source: store/templates/deployment.yaml
	// apiVersion: apps/v1
	// kind: Deployment
	// metadata:
	//   name: store
	// spec:
	//   template:
	//     metadata:
	//       annotations:
	//         helm-checksum/configmap.store: af9dcd6d971c71d60f1138a710f57171fed6b2a3d7ad8b6af67246e92cb2d96c
	//     spec:
	//       containers:
	//       - name: store
	//         envFrom:
	//         - configMapRef:
	//             name: store
}

// The stamps alone, with what there is to warn of: this ConfigMap's value lacks quotes.
func ExampleRenderer_Stamp() {
	r, err := renderer.New(renderer.Options{})
	if err != nil {
		log.Fatal(err)
	}
	stamped, err := r.Stamp([]byte(strings.Replace(stream, `"on"`, "1", 1)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stamped.Changed())
	fmt.Println(stamped.Warnings[0])
	// Output:
	// true
	// ConfigMap/store: the value of key "FEATURE_RECS" is a number, not a string: its JSON text was taken
}

// A Plan says who consumes what, and what comes of it.
func ExampleRenderer_Plan() {
	r, err := renderer.New(renderer.Options{Namespace: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := r.Plan([]byte(stream))
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range plan.Workloads {
		fmt.Println(&w, "of", w.Source)
		for _, c := range w.Consumes {
			fmt.Println(" ", c.Kind, c.Namespace+"/"+c.Name, c.Keys, c.Via, c.Status)
		}
	}
	// Output:
	// Deployment/store of store/templates/deployment.yaml
	//   ConfigMap shop/store [*] [containers[store].envFrom[0]] stamped
}

// The checksum of the keys that a workload consumes of an object that is at hand,
// such as one in a cluster.
func ExampleChecksum() {
	content := map[string][]byte{"FEATURE_RECS": []byte("on"), "BANNER": []byte("Sale!")}
	fmt.Println(renderer.Checksum("ConfigMap", content, []string{"FEATURE_RECS"}, nil))
	// Output: af9dcd6d971c71d60f1138a710f57171fed6b2a3d7ad8b6af67246e92cb2d96c
}

func ExampleAnnotationKey() {
	fmt.Println(renderer.AnnotationKey("ConfigMap", "store", ""))
	fmt.Println(renderer.AnnotationKey("ConfigMap", "shared", "platform"))
	// Output:
	// helm-checksum/configmap.store
	// helm-checksum/configmap.shared-dc96bede36
}
