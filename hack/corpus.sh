#!/usr/bin/env bash
# corpus.sh BINARY: hold a binary against real streams of public charts, where
# ../shared has them: who consumes what by an independent oracle, every checksum, every
# byte of the output.
set -euo pipefail
cd "$(dirname "$0")/.."
corpus=../shared/corpus
if [ ! -x "$corpus/check" "$(realpath "$1")" >"$temp/out" 2>&1 || true
sed 's/^/  /' "$temp/out"
unexpected=$(grep '^FAIL' "$temp/out" | grep -cvE "/helm[34]/helm__charts__raw__kruise\.yaml: stamps: $accepted\$" || true)
expected=$(grep -cE "^FAIL .*: stamps: $accepted\$" "$temp/out" || true)
if [ "$unexpected" != 0 ] || [ "$expected" != 2 ] || ! grep -qE '^[0-9]+ passed, 2 failed' "$temp/out"; then
	echo "corpus: something else failed than the two known lines" >&2
	exit 1
fi
echo "corpus: as the contract wants it"
