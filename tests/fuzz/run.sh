#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs each fuzz target for a while; a crash ends it with the input's path.
# usage: run.sh BUILD_FOLDER TARGET...
set -eu
build=$1
shift
for target; do
	mkdir -p "$build/corpus/$target"
	echo "$target"
	"$build/$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=1024 \
		-artifact_prefix="$build/$target-" -print_final_stats=1 "$build/corpus/$target" 2>&1 |
		grep -E '^stat::(number_of_executed|peak_rss)|SUMMARY|Test unit' || true
done
