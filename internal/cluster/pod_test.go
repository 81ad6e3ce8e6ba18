package cluster

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func podOf(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), p); err != nil {
		t.Fatal(err)
	}
	return p
}

const everyReader = `
metadata: {name: web-1, namespace: shop}
spec:
  initContainers:
  - name: setup
    volumeMounts: [{name: templates, mountPath: /t}]
  - name: proxy
    restartPolicy: Always
    volumeMounts: [{name: live, mountPath: /l}]
  containers:
  - name: web
    env:
    - {name: PLAIN, value: not needed}
    - {name: A, valueFrom: {configMapKeyRef: {name: env, key: A}}}
    volumeMounts: [{name: live, mountPath: /l}, {name: fixed, mountPath: /f, subPath: f}, {name: data, mountPath: /d}]
  - name: log
    volumeMounts: [{name: expression, mountPath: /e, subPathExpr: $(X)}, {name: driver, mountPath: /s}]
  volumes:
  - {name: templates, configMap: {name: templates}}
  - {name: live, projected: {sources: [{configMap: {name: live}}]}}
  - {name: fixed, secret: {secretName: fixed}}
  - {name: expression, configMap: {name: expression}}
  - {name: nobody, configMap: {name: nobody}}
  - {name: driver, csi: {driver: d, nodePublishSecretRef: {name: token}}}
  - {name: data, persistentVolumeClaim: {claimName: data-web-1}}
  - name: kube-api-access-x7x2p
    projected: {sources: [{serviceAccountToken: {path: token}}, {configMap: {name: kube-root-ca.crt}}]}
status:
  startTime: "1970-01-01T00:03:20Z"
  initContainerStatuses:
  - {name: setup, state: {terminated: {exitCode: 0, startedAt: "1970-01-01T00:03:30Z"}}}
  - {name: proxy, state: {running: {startedAt: "1970-01-01T00:03:40Z"}}}
  containerStatuses:
  - {name: web, restartCount: 1, lastState: {terminated: {exitCode: 1, startedAt: "1970-01-01T00:03:50Z"}}, state: {running: {startedAt: "1970-01-01T00:05:00Z"}}}
  - {name: log, state: {running: {startedAt: "1970-01-01T00:03:51Z"}}}
`

func TestOldestReader(t *testing.T) {
	tests := []struct {
		name string
		via  []string
		want int64
		live bool
	}{
		{"environment, since the container's restart", []string{"containers[web].env[A]"}, 300, false},
		{"environment of two", []string{"containers[web].env[A]", "containers[log].envFrom[0]"}, 231, false},
		{"an init container has read for the others", []string{"initContainers[setup].envFrom[0]"}, 210, false},
		{"an init container's volume", []string{"volumes[templates].configMap"}, 210, false},
		{"a live volume, also of a sidecar", []string{"volumes[live].projected.sources[0].configMap"}, 220, true},
		{"a live volume and environment", []string{"containers[web].env[A]", "volumes[live].projected.sources[0].configMap"}, 220, false},
		{"a subPath", []string{"volumes[fixed].secret"}, 300, false},
		{"a subPathExpr", []string{"volumes[expression].configMap"}, 231, false},
		{"a volume that no one mounts", []string{"volumes[nobody].configMap"}, 210, false},
		{"a driver reads when it mounts", []string{"volumes[driver].csi.nodePublishSecretRef"}, 200, false},
		{"consumes names no reader", []string{"metadata.annotations[helm-checksum/consumes]"}, 210, false},
	}
	p := podOf(t, everyReader)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := readersOf(p, tt.via)
			if got := readClock(p).oldest(r); got != tt.want || r.live != tt.live {
				t.Errorf("oldest = %d, live %v; want %d, %v", got, r.live, tt.want, tt.live)
			}
		})
	}
}

func TestContainersThatDoNotRunReadNothing(t *testing.T) {
	tests := []struct {
		name, status string
		via          string
		want         int64
	}{
		{"waiting", `{containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, startedAt: "1970-01-01T00:03:20Z"}}}]}`,
			"containers[web].env[A]", 0},
		{"ended beside one that runs", `{containerStatuses: [{name: web, state: {terminated: {exitCode: 0, startedAt: "1970-01-01T00:03:20Z"}}}, {name: log, state: {running: {startedAt: "1970-01-01T00:03:20Z"}}}]}`,
			"containers[web].env[A]", 0},
		{"init container done, nothing runs", `{initContainerStatuses: [{name: setup, state: {terminated: {exitCode: 0, startedAt: "1970-01-01T00:03:20Z"}}}], containerStatuses: [{name: web, state: {waiting: {}}}]}`,
			"initContainers[setup].env[A]", 0},
		{"init container at work", `{initContainerStatuses: [{name: setup, state: {running: {startedAt: "1970-01-01T00:03:20Z"}}}]}`,
			"initContainers[setup].env[A]", 200},
		{"no status", `{}`, "volumes[driver].csi.nodePublishSecretRef", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := podOf(t, "status: "+tt.status)
			if got := readClock(p).oldest(readersOf(p, []string{tt.via})); got != tt.want {
				t.Errorf("oldest = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestDocumentsOfOneTemplateAreEqual(t *testing.T) {
	first, second := podOf(t, everyReader), podOf(t, everyReader)
	second.Name = "web-2"
	second.Spec.NodeName = "node-2"
	second.Spec.Volumes[6].PersistentVolumeClaim.ClaimName = "data-web-2"
	second.Spec.Volumes[7].Name = "kube-api-access-zzzzz"
	second.Spec.Containers[0].Env[0].Value = "other"
	second.Annotations = map[string]string{"helm-checksum/configmap.env": "abc"}
	text := func(p *corev1.Pod) string {
		b, err := json.Marshal(document(p, nil))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if d := cmp.Diff(text(first), text(second)); d != "" {
		t.Errorf("documents differ (-first +second):\n%s", d)
	}
}

func TestControlsOfPodAndWorkloadAreUnited(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		"helm-checksum/consumes": "configmap/a", "helm-checksum/ignore": "secret/x", "other": "y"}}}
	got := document(p, map[string]string{"helm-checksum/consumes": "configmap/b", "helm-checksum/ignore": "secret/x"}).Annotations
	want := map[string]string{"helm-checksum/consumes": "configmap/a, configmap/b", "helm-checksum/ignore": "secret/x"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("annotations (-want +got):\n%s", d)
	}
}
