#!/usr/bin/env bash
# The main job, on a bundled chart: one of two Deployments reads FEATURE_RECS. Turn it
# off, and the pod template of that one changes, by one annotation.
set -euo pipefail
cd "$(dirname "$0")/.."

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# Only the plugins directory of the demo's own: the user's plugins have no part in it.
unset HELM_PLUGINS
export HELM_DATA_HOME=$temp/data HELM_CACHE_HOME=$temp/cache HELM_CONFIG_HOME=$temp/config
mkdir -p "$temp/data/bin" "$temp/data/plugins/helm-checksum"

helm=$(command -v helm || true)
if [ -z "$helm" ]; then
	echo 'There is no helm on PATH: building Helm 4 from its Go module (minutes, once).' >&2
	helm=$(go run ./hack/realhelm 4)
fi
CGO_ENABLED=0 go build -trimpath -o "$temp/data/bin/helm-checksum" ./cmd/helm-checksum

case $("$helm" version --template '{{.Version}}') in
v3.*) export PATH="$temp/data/bin:$PATH" ;; # Helm 3 runs an executable
*) cp plugin/postrenderer/plugin.yaml "$temp/data/plugins/helm-checksum/" ;; # Helm 4 a plugin
esac

chart=charts-testdata/feature-recs
render() { # render VALUE FILE
	echo "\$ helm template shop $chart --set featureRecs=$1 --post-renderer helm-checksum > $2"
	"$helm" template shop "$chart" --set "featureRecs=$1" --post-renderer helm-checksum >"$temp/$2"
}

echo 'Two Deployments, one ConfigMap. shop-store reads FEATURE_RECS from it, shop-search does not.'
render on on.yaml
render off off.yaml
echo '$ diff on.yaml off.yaml'
diff "$temp/on.yaml" "$temp/off.yaml" || true
echo '$ helm-checksum diff on.yaml off.yaml'
"$temp/data/bin/helm-checksum" diff "$temp/on.yaml" "$temp/off.yaml" || [ $? = 1 ]
echo
echo 'One pod template changed, by one annotation: helm upgrade rolls shop-store, and shop-search keeps its pods.'
