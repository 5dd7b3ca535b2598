#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The directions between the folders, from the includes; and, from the symbols
# of the library, that the symbolizer opens no file and starts no program.
#   tests/lint/layers.sh [LIBRARY]
# What a folder may include is the table below; its own files always. A
# folder's row also holds for those inside it that have no row of their own.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

public=symbolizer/symbolizer.h
table="
base               |
bpf                |
symbolizer         | base/*
symbolizer/example | base/* $public
user/profile       | base/* bpf/wire.h $public
user/process       | base/* bpf/wire.h $public
user/sampling      | base/* bpf/wire.h $public *.skel.h
user/fetch         | base/* bpf/wire.h $public
user/symbolize     | base/* bpf/wire.h $public user/profile/* user/process/* user/sampling/* user/fetch/*
user/report        | base/* bpf/wire.h user/profile/*
user               | base/* bpf/wire.h $public user/*
"

# The row of the folder, or of the nearest folder around it: "FOLDER|PATTERNS".
row_of() {
	local folder=$1 row
	while [ "$folder" != . ]; do
		row=$(sed -nE "s#^$folder +\\|(.*)#\\1#p" <<<"$table")
		if grep -qE "^$folder +\\|" <<<"$table"; then
			echo "$folder|$row"
			return
		fi
		folder=$(dirname "$folder")
	done
}

allowed() {
	local header=$1 pattern
	set -f
	for pattern in $2; do
		# shellcheck disable=SC2053 # a pattern, on purpose
		[[ $header == $pattern ]] && { set +f; return 0; }
	done
	set +f
	return 1
}

failed=0
n_includes=0
while IFS=: read -r file line include; do
	header=$(sed -E 's/^[^"]*"([^"]*)".*/\1/' <<<"$include")
	folder=$(dirname "$file")
	row=$(row_of "$folder")
	[ -n "$row" ] || { echo "layers: $folder has no row in tests/lint/layers.sh"; failed=1; continue; }
	n_includes=$((n_includes + 1))
	own=${row%%|*}
	# A name without a folder is a file beside the one that includes it.
	[[ $header != */* && -f $folder/$header ]] && header=$folder/$header
	[[ $header == "$own"/* ]] && [ "$own" != user ] && continue
	allowed "$header" "${row#*|}" && continue
	[ "$own" = bpf ] && [[ $header != */* || -f vmlinux/x86/$header ]] && continue # libbpf's and the kernel types
	echo "layers: $file:$line includes $header, which $own/ may not"
	failed=1
done < <(grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' base bpf symbolizer user 2>/dev/null)

library=${1:-}
if [ -n "$library" ]; then
	calls=$(nm -u "$library" 2>/dev/null | awk '{print $2}' | sort -u |
		grep -xE '(f?re)?open(64)?|(__)?open(at|at2)?(64)?(_2)?|f(d)?open(64)?|creat(64)?|opendir|popen|system|exec[lv][pe]*|posix_spawnp?|dlopen|socket|connect|process_vm_readv|ptrace|fork|vfork' |
		grep -vxE 'fdopen' || true)
	if [ -n "$calls" ]; then
		while read -r call; do
			nm -A -u "$library" | grep -w "U $call" | sed -E "s/^([^ ]*):.*/layers: \\1 calls $call(): the symbolizer opens nothing/"
		done <<<"$calls"
		failed=1
	fi
fi

[ $failed -eq 0 ] && echo "layers: $n_includes includes, none against the directions"
exit $failed
