#!/usr/bin/env bash
# corpus.sh BINARY: hold a binary against real streams of public charts, where
# ../shared has them: who consumes what by an independent oracle, every checksum, every
# byte of the output.
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=../shared/corpus
if [ ! -f "$corpus/check" ]; then
	echo "corpus: there is no $corpus here: not checked"
	exit 0
fi

# The oracle stamps a CloneSet that updates in place (updateStrategy.type
# InPlaceIfPossible). The contract says in section 1 that it must not be: an in-place
# update changes the annotations and restarts nothing. These two lines, no others:
accepted='/helm[34]/helm__charts__raw__kruise\.yaml: stamps: CloneSet/prod/guestbook-clone lacks helm-checksum/configmap\.guestbook-config$'

out=$(mktemp)
trap 'rm -f "$out"' EXIT
bash "$corpus/check" "$(realpath "$1")" >"$out" 2>&1 || true
sed 's/^/  /' "$out"
expected=$(grep '^FAIL' "$out" | grep -cE "$accepted" || true)
unexpected=$(grep '^FAIL' "$out" | grep -cvE "$accepted" || true)
if [ "$expected" != 2 ] || [ "$unexpected" != 0 ] || ! grep -qE '^[1-9][0-9]* passed, 2 failed' "$out"; then
	echo "corpus: not just the two known lines failed" >&2
	exit 1
fi
echo "corpus: as the contract wants it"
