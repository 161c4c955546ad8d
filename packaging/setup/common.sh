# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For the scripts beside this one: messages, causes of failed downloads and installations, and checks for space.

say() {
	printf 'cordon setup: %s\n' "$*"
}

# Ends the script with one message: what failed, why, and what to do.
die() {
	printf 'cordon setup: %s\n' "$*" >&2
	exit 1
}

# is_outdated LOG: did apt fail because the mirror has other versions than the package lists?
is_outdated() {
	grep -Eiq '404 +(file )?not found|hash sum mismatch|unexpected size' "$1"
}

# explain LOG: prints why apt or dpkg failed by its output in LOG, and what to do.
explain() {
	local errors
	# Lines of errors, and the indented ones below them; not the names of packages and files.
	errors=$(grep -E '^(E|W|Err|dpkg[^ ]*|tar|mv|depmod)[: ]|^ +[A-Z0-9].*|^ cannot ' "$1" | grep -Ev '^  [a-z0-9]' || true)
	because() { grep -Eiq "$1" <<<"$errors"; }
	if because 'no space left|enough free space'; then
		echo "the disk is full. Free some space, and run the same command again: what was downloaded is kept."
	elif because 'remove is disabled'; then
		echo "installed packages would have to be removed for them. Nothing was changed; remove those yourself if you agree."
	elif because 'could not get lock|unable to acquire|unable to lock'; then
		echo "another package manager is running. Wait until it ends, and run the same command again."
	elif because 'dpkg was interrupted'; then
		echo "an earlier installation was interrupted. Run as root: dpkg --configure -a"
	elif is_outdated "$1"; then
		echo "the mirror no longer has these versions. Run as root: apt-get update; and run the same command again."
	elif because 'resolv|could not connect|unable to connect|network is unreachable|timed out|connection (refused|failed)|no route to host|could not resolve|failed to fetch'; then
		echo "the Debian mirror cannot be reached. Check the network, and http_proxy if there is a proxy; run the same command again."
	elif because 'no_pubkey|is not signed|not valid yet|is expired|signature'; then
		echo "the package lists cannot be verified. Check the clock, and that debian-archive-keyring is up to date."
	elif because 'unmet dependencies|held broken packages'; then
		echo "they conflict with installed or held packages. See: apt-get -s install PACKAGE"
	else
		grep -E '^(E|dpkg): ' "$1" | tail -n 1 | grep . || echo "apt failed without a message; run it by hand to see more"
	fi
}

# require_space STEP DIRECTORY MEGABYTES: ends the script if the file system of DIRECTORY has less space.
require_space() {
	local folder=$2 free
	while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
	free=$(($(df -Pk "$folder" | awk 'NR == 2 { print $4 }') / 1024))
	[ "$free" -ge "$3" ] ||
		die "cannot $1: $folder has $free MB of free space, and $3 MB are needed. Free some space, and run the same command again."
}
