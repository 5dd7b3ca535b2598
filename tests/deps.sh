#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs those packages of packages.txt that are missing, and nothing else.
#   tests/deps.sh [ARCH [SECTION...]]
# ARCH x86 or arm64: for another architecture than this machine's, also its
# cross compiler and its copies of the -dev packages. SECTION: build, demo,
# test, lint, fuzz; all of them but fuzz when none is named.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

machine=$(uname -m)
arch=${1:-$machine}
[ $# -gt 0 ] && shift
case $machine in x86_64) native=amd64 ;; aarch64) native=arm64 ;; *) native=$machine ;; esac
case $arch in x86 | x86_64 | amd64) target=amd64 ;; arm64 | aarch64) target=arm64 ;;
*) echo "deps: unknown architecture '$arch': x86 or arm64" >&2; exit 2 ;; esac

sections=" ${*:-build demo test lint} "
wanted=()
section=
while read -r line; do
	case $line in
	"# --- "*) section=${line#"# --- "} ;;
	"" | "#"*) ;;
	*) [[ $sections == *" $section "* ]] && wanted+=("$line") ;;
	esac
done <"$here/packages.txt"

if ! command -v dpkg-query >/dev/null; then
	echo "deps: this is not a Debian system; install what corresponds to: ${wanted[*]}" >&2
	exit 1
fi

if [ "$target" != "$native" ]; then
	case $target in arm64) wanted+=(gcc-aarch64-linux-gnu) ;; amd64) wanted+=(gcc-x86-64-linux-gnu) ;; esac
	for package in "${wanted[@]}"; do
		case $package in lib*-dev | zlib1g-dev) wanted+=("$package:$target") ;; esac
	done
fi

# The packages among the arguments that are not installed, one a line.
missing() {
	local -A have=()
	local name
	while read -r status name; do
		[ "$status" = installed ] && have[$name]=1
	done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n${db:Status-Status} ${Package}:${Architecture}\n' \
		"$@" 2>/dev/null || true)
	for name in "$@"; do
		[ -n "${have[$name]:-}" ] || echo "$name"
	done
}

mapfile -t need < <(missing "${wanted[@]}")
[ ${#need[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
	echo "deps: there is no apt-get here; install these by other means: ${need[*]}" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "deps: not root, and these packages are missing: ${need[*]}" >&2
	echo "deps: run 'sudo make deps', or: apt-get install ${need[*]}" >&2
	exit 1
fi

echo "installing: ${need[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# apt_get WHAT ARGS...: quiet, but everything it said when it fails.
apt_get() {
	local what=$1
	shift
	apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@" >"$log" 2>&1 && return
	cat "$log" >&2
	echo "deps: $what failed; see the lines above" >&2
	exit 1
}

fresh=0
if [ "$target" != "$native" ] && ! dpkg --print-foreign-architectures | grep -qx "$target"; then
	dpkg --add-architecture "$target"
	apt_get "apt-get update" update
	fresh=1
fi
if [ $fresh -eq 0 ]; then
	# Lists older than a day, or lists that do not know a package, are read again.
	stamp=$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mtime -1 -print -quit 2>/dev/null || true)
	if [ -z "$stamp" ] || ! apt-cache show --no-all-versions "${need[@]}" >/dev/null 2>&1; then
		apt_get "apt-get update" update
	fi
fi
apt_get "apt-get install ${need[*]}" install --no-install-recommends "${need[@]}"
