# Debian packages without root: read with `.` after common.sh. The system's
# packages, package lists and caches are neither needed nor touched: apt works
# on lists of its own, believes that nothing is installed, and so fetches all
# that a program needs, down to libc. Programs run with that libc.

# own_sources prints the lines of a sources.list for the release that the
# system is, from the mirrors that the system's apt uses. Without release info
# apt names them before anybody ran apt-get update, too.
own_sources() {
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-sid}")
	apt-get --no-release-info indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		sort -u | while read -r uri release component; do
		case $release in
		"$codename" | "$codename-updates" | "$codename-security" | "$codename/updates") ;;
		*) continue ;;
		esac
		case $component in main | universe) echo "deb $(signed_by)$uri $release $component" ;; esac
	done
}

# suite_source SUITE prints the line for another suite of Debian, from the
# mirror of the system's own if that is one of Debian.
suite_source() {
	mirror=$(own_sources | grep -o '[a-z]*://[^ ]*/debian/* ' | head -n 1)
	echo "deb $(signed_by)${mirror:-http://deb.debian.org/debian} $1 main"
}

# signed_by prints the option that names Debian's keys, where the system has
# them in their usual place.
signed_by() {
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e $keyring ] || echo "[signed-by=$keyring] "
}

# unpack FOLDER PACKAGE... unpacks packages and all that they depend on into
# FOLDER/root, from the sources.list lines on its input.
unpack() {
	folder=$1
	shift
	apt=$folder/apt
	mkdir -p "$folder/root" "$apt/none" "$apt/state/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/installed"
	cat >"$apt/sources.list"
	[ -s "$apt/sources.list" ] || die "no package source for this system in /etc/apt"
	{
		# How to get at the network is the one thing to take over from the system.
		# A mirror that lags behind is good enough: what it has is still signed.
		apt-config dump | grep -E '^Acquire::(https?::(Proxy|CAInfo|Verify|SslCert|SslKey)|ForceIPv)' || :
		cat <<-END
			Dir::Etc::sourcelist "$apt/sources.list";
			Dir::Etc::sourceparts "$apt/none";
			Dir::Etc::parts "$apt/none";
			Dir::Etc::main "$apt/none/apt.conf";
			Dir::Etc::preferences "$apt/none/preferences";
			Dir::Etc::preferencesparts "$apt/none";
			Dir::State "$apt/state";
			Dir::State::status "$apt/installed";
			Dir::Cache "$apt/cache";
			APT::Sandbox::User "";
			APT::Install-Recommends "false";
			Acquire::Languages "none";
			Acquire::Retries "3";
			Acquire::Check-Valid-Until "false";
		END
	} >"$apt/apt.conf"
	quietly "$apt/log" env LC_ALL=C APT_CONFIG="$apt/apt.conf" apt-get -q -o Debug::NoLocking=1 update
	quietly "$apt/log" env LC_ALL=C APT_CONFIG="$apt/apt.conf" apt-get -q -y -o Debug::NoLocking=1 --download-only install "$@"
	for package in "$apt"/cache/archives/*.deb; do
		dpkg-deb --extract "$package" "$folder/root"
	done
	rm -rf "$apt"
	for idle in doc man info locale lintian perl; do
		rm -rf "$folder/root/usr/share/$idle"
	done
	rm -rf "$folder"/root/usr/lib/*/perl*
}

# quietly LOG COMMAND... shows what a command says only when it fails.
quietly() {
	log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null && return
	tail -n 20 "$log" >&2
	die "failed: $*"
}

# launcher FOLDER FINAL PROGRAM [ARG...] writes FOLDER/bin/NAME, which runs a
# program below FOLDER/root with the libraries there once FOLDER has become
# FINAL. The arguments come after the caller's.
launcher() {
	folder=$1 final=$2 program=$3
	shift 3
	[ -x "$folder/root/$program" ] || die "$program is not in the packages"
	loader=$(cd "$folder/root" && find * -type f -name 'ld-linux*.so.*' | head -n 1)
	libraries=$(cd "$folder/root" && find * -name 'libc.so.6' -o -name 'libstdc++.so.6' -o -name 'libssl.so.*' | sed 's,/[^/]*$,,' | sort -u |
		sed "s,^,$final/root/," | paste -s -d : -)
	mkdir -p "$folder/bin"
	cat >"$folder/bin/${program##*/}" <<-END
		#!/bin/sh
		exec '$final/root/$loader' --inhibit-cache --library-path '$libraries' '$final/root/$program' "\$@"${*:+ $*}
	END
	chmod +x "$folder/bin/${program##*/}"
}

# move_in TEMPORARY FINAL moves a finished folder into its place, at once, so
# that a folder that is there is whole. Who comes second drops his.
move_in() {
	touch "$1/.unpacked"
	if [ -e "$2/.unpacked" ]; then
		rm -rf "$1"
		return
	fi
	[ ! -d "$2" ] || rmdir "$2" || die "$2 is in use for something else"
	mv -T "$1" "$2"
}

# clear FOLDER removes what move_in has put there and what does not run any more.
clear() { [ ! -e "$1/.unpacked" ] || rm -rf "$1"; }
