#!/usr/bin/env bash
# fuzz.sh TIME: run every fuzz target of the repository for TIME, one after another.
set -euo pipefail
cd "$(dirname "$0")/.."

found=0
for package in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
		# By itself Go makes an input smaller for up to a minute: all of a short run.
		echo "fuzz: $package $target for $1"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 1s "$package"
		found=$((found + 1))
	done
done
echo "fuzz: $found targets"
[ "$found" -gt 0 ]
