#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The checks that need no running program: formatting, spelling, shell
# scripts, licence lines, and texts that belong to one machine only.
# Prints what is wrong by file and line; the last line counts the checks.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

n_checks=0
n_failed=0

# check NAME COMMAND...: runs it; whatever it prints is shown when it fails.
check() {
	local name=$1 said
	shift
	n_checks=$((n_checks + 1))
	if said=$("$@" 2>&1); then
		printf '  %-7s %s\n' ok "$name"
	else
		n_failed=$((n_failed + 1))
		printf '  %-7s %s\n' FAILED "$name"
		head -80 <<<"$said"
	fi
}

# The project's files, tracked or new; without git, all but build output.
files() {
	git ls-files --cached --others --exclude-standard -- "$@" 2>/dev/null | while read -r file; do
		[ -f "$file" ] && echo "$file"
	done
}
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	files() {
		local pattern
		for pattern in "$@"; do
			find . -path ./build -prune -o -type f -name "$pattern" -print | sed 's,^\./,,'
		done
	}
fi

mapfile -t c_files < <(files '*.c' '*.h')
mapfile -t scripts < <(files '*.sh' run)
[ -f .ci/run ] && scripts+=(.ci/run)
mapfile -t sources < <(files '*.c' '*.h' '*.cc' '*.rs' '*.js' '*.py' '*.sh' 'Makefile')
mapfile -t texts < <(files '*' | grep -vE '^LICENSES/|^\.git/')

formatting() { clang-format --dry-run -Werror "${c_files[@]}"; }
spelling() { codespell --ignore-words tests/lint/words.txt "${texts[@]}"; }
shell() { shellcheck "${scripts[@]}"; }

licences() {
	local file want bad=0
	for file in "${sources[@]}"; do
		want='SPDX-License-Identifier: Apache-2.0'
		case $file in bpf/* | vmlinux/*) want='SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)' ;; esac
		head -2 "$file" | grep -qF "$want" || { echo "$file: line 1 or 2 must say $want"; bad=1; }
	done
	return $bad
}

# Paths of one machine, and addresses of package registries and their mirrors.
one_machine() {
	local slash=/ found
	found=$(grep -nEI "${slash}work${slash}|${slash}root${slash}[.]|https?://[^ ]*(pypi|pythonhosted|crates[.]io|npmjs|proxy[.]golang|artifactory|nexus)" \
		"${texts[@]}" | grep -vE '^tests/lint/run\.sh:') || return 0
	echo "$found"
	return 1
}

whitespace() {
	local found
	found=$(grep -nEI '[[:blank:]]+$' "${sources[@]}" tests/packages.txt) || return 0
	echo "$found"
	return 1
}

layers() { tests/lint/layers.sh; }

for tool in clang-format codespell shellcheck; do
	command -v "$tool" >/dev/null || { echo "lint: $tool is missing: make deps" >&2; exit 1; }
done

check "formatting of ${#c_files[@]} C files" formatting
check "spelling of ${#texts[@]} files" spelling
check "${#scripts[@]} shell scripts" shell
check "licence line of ${#sources[@]} sources" licences
check "nothing of one machine" one_machine
check "no blanks at line ends" whitespace
check "layers" layers

echo "lint: $n_checks checks, $n_failed failed"
[ $n_failed -eq 0 ]
