# What the scripts share: read with `.`, not run. Callers have set -eu.

script=${0##*/}

say() { printf 'scripts/%s: %s\n' "$script" "$*" >&2; }
die() { say "$@"; exit 1; }

# usage prints the comment at the head of the script.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# need COMMAND...: end with one line when a command is missing.
need() {
	for command; do
		command -v "$command" >/dev/null || die "$command is missing; this script needs it"
	done
}

# need_go looks for Go where it usually is, PATH first. Building does not ask
# git for a version stamp: git refuses where another user owns the tree.
need_go() {
	command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin:/usr/lib/go/bin
	command -v go >/dev/null || die "go is missing: install Go $(sed -n 's/^go //p' go.mod) or newer from https://go.dev/dl/"
	GOFLAGS="-buildvcs=false ${GOFLAGS:-}"
	export PATH GOFLAGS
}

# set_home sets HOME where nobody did: Go's caches and ours are below it.
set_home() {
	[ -n "${HOME:-}" ] || HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
	[ -d "$HOME" ] && [ -w "$HOME" ] || die "the home folder '$HOME' cannot be written: set HOME"
	export HOME
}

# cache_dir prints the folder for what is fetched; localserver.CacheDir in Go
# follows the same rule.
cache_dir() { printf '%s\n' "${PRESCIENT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/prescient}"; }

# built NAME PACKAGE builds a program of the module in the working folder, and
# prints where it is. One that runs keeps the file that it was started from.
built() {
	programs=$(cache_dir)/programs
	mkdir -p "$programs" &&
		go build -o "$programs/$1.$$" "$2" &&
		mv -f "$programs/$1.$$" "$programs/$1" &&
		printf '%s\n' "$programs/$1"
}

# program_on_path NAME prints where a program is, also in the sbin folders that
# are not on every user's PATH.
program_on_path() { (PATH=$PATH:/usr/local/sbin:/usr/sbin; command -v "$1"); }
