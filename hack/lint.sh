#!/usr/bin/env bash
# Checks that need no judgement. Ends with status 1 when any finds something.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
check() {
	echo "lint: $1"
	shift
	"$@" || failed=1
}

formatted() {
	local files
	files=$(git ls-files -co --exclude-standard -- '*.go' | xargs -r ls 2>/dev/null | xargs -r gofmt -l)
	[ -z "$files" ] || { printf '%s: not in the format of gofmt\n' $files; return 1; }
}

scripts() {
	local script
	for script in plugin/hook.sh plugin.complete; do sh -n "$script" || return; done
	for script in hack/*.sh .ci/run; do bash -n "$script" || return; done
}

# nested vets a module of its own, where there is one.
nested() { [ ! -f "$1/go.mod" ] || (cd "$1" && go vet ./...); }

static() { (cd tools/lint && go build -o "$1" honnef.co/go/tools/cmd/staticcheck) && "$1" ./...; }

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

check gofmt formatted
check 'shell syntax' scripts
check 'go vet' go vet ./...
check 'go vet, as on Windows' env GOOS=windows go vet ./cmd/helm-checksum ./renderer ./internal/cli
check 'go vet of the benchmarks' nested bench
check staticcheck static "$temp/staticcheck"
check 'go.mod is tidy' go mod tidy -diff
exit $failed
