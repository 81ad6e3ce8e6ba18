#!/bin/sh
# Helm runs this at the end of `helm plugin install` and `helm plugin update`
# (plugin.yaml). It provides bin/helm-checksum and, under Helm 4, the post-renderer
# plugin. It fetches nothing itself. Windows has hook.ps1, which does the same.
set -eu

dir=${HELM_PLUGIN_DIR:?"is not set: Helm runs this script, at helm plugin install"}
plugins=$(dirname "$dir")
binary=$dir/bin/helm-checksum
second=$dir-postrenderer # plugin.yaml's delete hook knows this name too

say() { printf 'helm-checksum: %s\n' "$*"; }

fail() {
	say "$*" >&2
	exit 1
}

# quoted prints a word as a shell reads it.
quoted() {
	case $1 in
	*[!A-Za-z0-9_./@%+:,-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
	*) printf '%s' "$1" ;;
	esac
}

# major_version prints 3 or 4 for a helm executable.
major_version() {
	HELM_NO_PLUGINS=1 "$1" version --template '{{.Version}}' 2>/dev/null </dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p'
}

# on_path prints where PATH has a helm of that major version, nothing if it has none.
on_path() (
	IFS=:
	set -f
	for folder in $PATH; do
		for name in helm "helm$1" "helm-$1" "helmv$1" "helm-v$1"; do
			file=${folder:-.}/$name
			if [ -f "$file" ] && [ -x "$file" ] && [ "$(major_version "$file")" = "$1" ]; then
				printf '%s' "$file"
				return
			fi
		done
	done
)

# Two plugins of one name, of whatever type, and Helm loads none.
check_names() {
	for manifest in "$plugins"/*/plugin.yaml; do
		other=$(dirname "$manifest")
		if [ "$other" = "$dir" ] || [ "$other" = "$second" ] || [ ! -f "$manifest" ]; then
			continue
		fi
		name=$(sed -n "s/^name: *[\"']\{0,1\}\([A-Za-z0-9_-]*\).*/\1/p" "$manifest" | head -n 1)
		case $name in
		checksum | helm-checksum)
			other=${other%-postrenderer}
			fail "the plugin $name is there already, in $other, and Helm loads no plugin while two have one name." \
				"Keep one: rm -rf $(quoted "$other") $(quoted "$other-postrenderer")"
			;;
		esac
	done
}

version=$(sed -n 's/^version: *//p' "$dir/plugin.yaml")

has_version() { [ "$("$1" version 2>/dev/null | cut -d ' ' -f 2)" = "$version" ]; }

provide_binary() {
	if [ ! -d "$dir/cmd/helm-checksum" ]; then # a release archive
		has_version "$binary" || fail "$binary does not run here as version $version." \
			"Install the release archive for this platform ($(uname -s), $(uname -m)), or the sources, which Go builds"
		return
	fi
	if command -v go >/dev/null; then
		say "building $version from source: go build, with your Go settings:" \
			"$(cd "$dir" && go env GOVERSION), GOPROXY=$(cd "$dir" && go env GOPROXY)"
		# Without the C library, as in releases, unless asked for: it makes the start slower.
		(cd "$dir" && CGO_ENABLED="${CGO_ENABLED:-0}" go build -trimpath -buildvcs=false \
			-ldflags "-s -w -X github.com/helm-checksum/helm-checksum/internal/cli.version=$version" \
			-o bin/helm-checksum ./cmd/helm-checksum) || fail "go build failed, see above. $(again)"
		return
	fi
	if has_version "$binary"; then
		say "there is no go on PATH; bin/helm-checksum, built earlier, has the right version"
		return
	fi
	fail "there is no go on PATH to build the sources with. Install Go (see go.mod for its version)," \
		"or take a release archive, which has the program. $(again)"
}

again() {
	echo "Then: helm plugin uninstall checksum, and install it again"
}

say_how() {
	say "with Helm $1: helm upgrade --install web ./web --post-renderer $2"
}

# add_post_renderer links the second plugin, relative, so that both can be moved.
add_post_renderer() {
	if [ -e "$second" ] && [ ! -L "$second" ]; then
		fail "$second is in the way of the post-renderer plugin. Remove it. $(again)"
	fi
	ln -sfn "$(basename "$dir")/plugin/postrenderer" "$second"
}

link_command() {
	printf 'ln -sfn %s %s' "$(quoted "$(basename "$dir")/plugin/postrenderer")" "$(quoted "$second")"
}

# Helm 3 tells hooks where it is, Helm 4 does not.
running=4
if [ -n "${HELM_BIN:-}" ]; then
	running=$(major_version "$HELM_BIN")
fi

check_names
provide_binary

case $running in
4)
	if [ -L "$second" ]; then
		add_post_renderer
	elif helm3=$(on_path 3) && [ -n "$helm3" ]; then
		say "Helm 4 wants a second plugin for --post-renderer. It is not added, because Helm 3 is here too ($helm3):"
		say "Helm 3 loads none of its plugins from a directory that has a plugin of Helm 4, and by default both use $plugins"
		say "To add it all the same, or when Helm 3 uses another directory (HELM_PLUGINS):"
		printf '\n  %s\n\n' "$(link_command)"
		say_how 4 "helm-checksum, after that command"
		say_how 3 "$(quoted "$binary")"
		exit 0
	else
		add_post_renderer
	fi
	say_how 4 helm-checksum
	;;
*)
	if [ "$(command -v helm-checksum || true)" = "$binary" ]; then
		say_how 3 helm-checksum
	else
		say_how 3 "$(quoted "$binary")"
		say "or with its folder on PATH, --post-renderer helm-checksum: export PATH=\"\$PATH\":$(quoted "$dir/bin")"
	fi
	if helm4=$(on_path 4) && [ -n "$helm4" ]; then
		say "Helm 4 ($helm4) wants a second plugin for --post-renderer, and where that is Helm 3 loads no plugin at all:"
		printf '\n  %s\n\n' "$(link_command)"
	fi
	;;
esac
