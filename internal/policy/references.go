package policy

// A config describes one kind of config object, and the places where a pod spec
// names an object of it.
type config struct {
	kind  string // ConfigMap or Secret
	lower string // as written in annotations

	envFrom string   // of an item of containers[].envFrom
	env     string   // of containers[].env[].valueFrom
	source  string   // of an item of volumes[].projected.sources
	volumes []string // of an item of volumes
}

// The places are those of CONTRACT.md section 2; the volumes are the members of
// core/v1 VolumeSource that name a Secret in the pod's own namespace.
var (
	configMap = config{
		kind:    "ConfigMap",
		lower:   "configmap",
		envFrom: "configMapRef.name",
		env:     "configMapKeyRef.name",
		source:  "configMap.name",
		volumes: []string{"configMap.name"},
	}
	secret = config{
		kind:    "Secret",
		lower:   "secret",
		envFrom: "secretRef.name",
		env:     "secretKeyRef.name",
		source:  "secret.name",
		volumes: []string{
			"secret.secretName",
			"csi.nodePublishSecretRef.name",
			"azureFile.secretName",
			"cephfs.secretRef.name",
			"cinder.secretRef.name",
			"flexVolume.secretRef.name",
			"iscsi.secretRef.name",
			"rbd.secretRef.name",
			"scaleIO.secretRef.name",
			"storageos.secretRef.name",
		},
	}
)
