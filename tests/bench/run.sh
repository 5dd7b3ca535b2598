#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measures the figures the project promises, beside the floor or the peers.
#   tests/bench/run.sh BUILD [NAME...]
# A NAME is a file here without its ending: accuracy, agent, cost, memory,
# soak, start, symbolizer. Each prints rows "figure | asked | measured | ok".
# BENCH_ROUNDS and BENCH_SOAK_SECONDS lengthen them. Run it on a quiet machine.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?the build folder}" && pwd)
shift
names=" $* "
export EVERLINE_BUILD=$build

printf '%s, %s CPUs, load %s\n' "$(uname -sr)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)"
printf '%-62s | %-16s | %-30s | %s\n' figure asked measured ok
status=0
for script in "$here"/*.py "$here"/*.sh; do
	name=$(basename "${script%.*}")
	case $name in bench | run) continue ;; esac
	[ "$names" = "  " ] || [[ $names == *" $name "* ]] || continue
	echo "--- $name"
	case $script in
	*.py) /usr/bin/python3 "$script" "$build" || status=1 ;;
	*) bash "$script" "$build" || status=1 ;;
	esac
done
exit $status
