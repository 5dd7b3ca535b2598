#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests and counts each one.
#   tests/run.sh unit|all BUILD [NAME...]
# unit: the cmocka programs in BUILD/tests/unit; all: those, then the
# end-to-end scripts tests/e2e/test_*.py. With NAMEs only the programs and
# scripts of those names. A program ends in time or it has failed.
# The last line is "N passed, N failed, N skipped"; exit 1 on any failure.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=${1:?unit or all}
build=$(cd "${2:?the build folder}" && pwd)
shift 2
names=" $* "
unit_seconds=${UNIT_SECONDS:-120}
e2e_seconds=${E2E_SECONDS:-240}

passed=0
failed=0
skipped=()
failures=()
output=$(mktemp)
trap 'rm -f "$output"' EXIT

result() { printf '  %-7s %s\n' "$1" "$2"; }

# count NAME STATUS: reads the TAP-like lines of one program from $output.
count() {
	local name=$1 status=$2 line last="" bad=0 seen=0 test reason
	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "* | "skip "*) ;;
		1..*) continue ;; # the plan
		*) last=${line#"# "}; continue ;;
		esac
		[[ $line == "not ok - "* ]] && continue # cmocka's verdict on the whole group
		seen=$((seen + 1))
		test=${line#not }
		test=${test#ok }
		test=$(sed -E 's/^[0-9]+ (- )?//; s/^skip //; s/^# SKIP/#SKIP/' <<<"$test")
		if [[ $line == "skip "* ]]; then
			reason=${test#* }
			skipped+=("$name ${test%% *}: $reason")
			result skip "$name ${test%% *}: $reason"
		elif [[ $test == "#SKIP "* ]]; then
			skipped+=("$name ${test#"#SKIP "}: ${last:-no reason given}")
			result skip "$name ${test#"#SKIP "}: ${last:-no reason given}"
		elif [[ $line == "not ok "* ]]; then
			bad=1
			failed=$((failed + 1))
			failures+=("$name $test")
			result FAILED "$name $test"
		else
			passed=$((passed + 1))
			result ok "$name $test"
		fi
		[[ $test == "#SKIP "* ]] || last="" # one reason may stand for several
	done <"$output"
	if [ "$status" -ne 0 ] && [ $bad -eq 0 ] || [ $seen -eq 0 ]; then
		reason="exit status $status"
		[ "$status" -eq 124 ] && reason="not done in time"
		[ "$status" -gt 128 ] && reason="killed by signal $((status - 128))"
		[ "$seen" -eq 0 ] && reason="$reason, no test ran"
		bad=1
		failed=$((failed + 1))
		failures+=("$name ($reason)")
		result FAILED "$name ($reason)"
	fi
	if [ $bad -ne 0 ]; then
		sed 's/^/      | /' "$output" | tail -60
	fi
}

selected() { [ "$names" = "  " ] || [[ $names == *" $1 "* ]]; }

began=$SECONDS
for program in "$build"/tests/unit/test_*; do
	name=$(basename "$program")
	{ [ -x "$program" ] && [[ $name != *.* ]] && selected "$name"; } || continue
	# A removed source leaves its program behind in the build folder.
	[ -f "$here/unit/$name.c" ] || continue
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$unit_seconds" "$program" >"$output" 2>&1 </dev/null
	count "$name" $?
done

if [ "$what" = all ]; then
	for script in "$here"/e2e/test_*.py; do
		name=$(basename "$script" .py)
		selected "$name" || continue
		# The scripts clean up on SIGTERM; their own output appears as it comes.
		EVERLINE_BUILD=$build timeout -k 10 "$e2e_seconds" /usr/bin/python3 "$script" >"$output" 2>&1 </dev/null
		count "$name" $?
	done
fi

echo
if [ ${#skipped[@]} -gt 0 ]; then
	echo "skipped:"
	printf '  %s\n' "${skipped[@]}"
fi
if [ ${#failures[@]} -gt 0 ]; then
	echo "failed:"
	printf '  %s\n' "${failures[@]}"
fi
echo "$((SECONDS - began)) s"
echo "$passed passed, $failed failed, ${#skipped[@]} skipped"
[ $failed -eq 0 ] && [ $((passed + ${#skipped[@]})) -gt 0 ]
