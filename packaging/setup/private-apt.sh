# SPDX-License-Identifier: Apache-2.0
#
# For scripts beside this one: package lists of their own, derived from the configured Debian mirror and verified
# with Debian's archive keys like any other. Nothing of the system's is changed. They set `work`, a folder of theirs.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Configured Debian mirrors as "URI SUITE" lines, whatever the syntax of the source files, and whether or
# not their lists were ever fetched.
configured_sources() {
	apt-get update --print-uris 2>/dev/null |
		sed -n "s#^'\(.*\)/dists/\([^/]*\)/\(In\)\{0,1\}Release'.*#\1 \2#p" |
		awk '$2 ~ /^(bookworm|trixie)/' | sort -u
}

# private_apt ARCHITECTURE SUITE...: sets apt_options.
private_apt() {
	local architecture=$1
	shift
	local suites=$*
	local root="$work/apt-$architecture-${suites// /-}"
	local suite uri pattern
	[ -r "$keyring" ] || die "$keyring is missing; install debian-archive-keyring"
	mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/parts"
	chmod -R a+rX "$work"
	: >"$root/sources.list"
	for suite in "$@"; do
		pattern='^(bookworm|trixie)(-updates|-backports)?$'
		case $suite in
		*-security) pattern='^(bookworm|trixie)-security$' ;;
		esac
		uri=$(configured_sources | awk -v p="$pattern" '$2 ~ p {print $1; exit}')
		[ -n "$uri" ] || {
			echo "E: no Debian mirror is configured for $suite in /etc/apt"
			return 1
		}
		printf 'deb [arch=%s signed-by=%s] %s %s main\n' "$architecture" "$keyring" "$uri" "$suite" >>"$root/sources.list"
	done
	apt_options=(
		-o "Dir::Etc::sourcelist=$root/sources.list" -o "Dir::Etc::sourceparts=$root/parts"
		-o "Dir::State::lists=$root/lists" -o "Dir::Cache=$root/cache"
		-o APT::Sandbox::User=root -o APT::Get::List-Cleanup=0 -o Acquire::Languages=none
		-o APT::Update::Post-Invoke-Success::=true
	)
	if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
		# Another machine's, on which nothing is installed.
		: >"$root/status"
		apt_options+=(
			-o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o "Dir::State::status=$root/status"
		)
	fi
	apt-get -q "${apt_options[@]}" -o Acquire::Retries=3 -o APT::Update::Error-Mode=any update >"$root/log" 2>&1 || {
		cat "$root/log" >&2
		return 1
	}
}
