# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For scripts beside this one, run from the top of the sources: what all packages have in common. The script's first
# argument is the folder for packages. VERSION and BUILD are those of the Makefile; DEBFULLNAME and DEBEMAIL name the
# maintainer; BUILT=yes packs what BUILD has, and builds nothing. A script fills $stage/NAME with the files of its package,
# and calls make_package.

target=${1:-build}
build=${BUILD:-build}
version=${VERSION:-$(sed -n 's/^VERSION *?= *//p' Makefile)}
# A placeholder that Debian's tools accept; who publishes a package sets both.
maintainer="${DEBFULLNAME:-cordon maintainers} <${DEBEMAIL:-maintainers@cordon.example}>"
# Equal sources give equal packages.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
umask 022
mkdir -p "$target"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"

# make_target TARGET: in BUILD, unless that is to be packed as it is.
make_target() {
	[ "${BUILT:-no}" = yes ] || make "$1" VERSION="$version" BUILD="$build" >&2
}

# copyright_and_changelog PACKAGE: both are required of a package. The changelog of the sources is CHANGELOG.md.
copyright_and_changelog() {
	local documents=$stage/$1/usr/share/doc/$1
	mkdir -p "$documents"
	cat >"$documents/copyright" <<-END
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: cordon

		Files: *
		Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of cordon
		License: Apache-2.0
		 On Debian systems the text of the Apache License, version 2.0, is in /usr/share/common-licenses/Apache-2.0.
	END
	printf '%s (%s) unstable; urgency=medium\n\n  * Built from the sources of this version; see CHANGELOG.md there.\n\n -- %s  %s\n' \
		"$1" "$version" "$maintainer" "$(date -Ru -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$documents/changelog.gz"
}

# libraries PACKAGE PROGRAM...: the packages, with versions, that the programs are linked with, as in a field of the control file.
libraries() {
	local root=$stage/$1
	shift
	# dpkg-shlibdeps reads debian/control of a source package; this is the part that it reads.
	mkdir -p "$stage/debian"
	printf 'Source: cordon\n\nPackage: cordon\nArchitecture: any\n' >"$stage/debian/control"
	(cd "$stage" && dpkg-shlibdeps -O "${@/#/$root/}") >"$stage/shlibs" 2>"$stage/log" && grep -q '^shlibs:Depends=.' "$stage/shlibs" || {
		cat "$stage/log" >&2
		echo "cannot find the libraries of $*: dpkg-shlibdeps failed; is dpkg-dev installed?" >&2
		exit 1
	}
	sed -n 's/^shlibs:Depends=//p' "$stage/shlibs"
}

# make_package NAME ARCHITECTURE FIELD...: makes it of $stage/NAME, and prints its path. The fields are lines of the control file.
make_package() {
	local name=$1 architecture=$2 root=$stage/$1 package size
	shift 2
	# As dpkg-gencontrol counts, so that the file system makes no difference.
	size=$(find "$root" -path "$root/DEBIAN" -prune -o -printf '%y %s\n' | awk '{ kb += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print kb }')
	mkdir -p "$root/DEBIAN"
	{
		printf '%s\n' "Package: $name" "Version: $version" "Architecture: $architecture" "Maintainer: $maintainer" \
			"Priority: optional" "Installed-Size: $size" "$@"
	} >"$root/DEBIAN/control"
	(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' md5sum) >"$stage/md5sums"
	install -m 644 "$stage/md5sums" "$root/DEBIAN/md5sums"
	package=$target/${name}_${version}_$architecture.deb
	dpkg-deb --root-owner-group --build "$root" "$package" >&2
	printf '%s\n' "$package"
}
