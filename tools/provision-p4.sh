#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Installs BMv2 and p4c, which the P4 project provides and the distributions do not. Uses the P4 project's packages if there
# are packages for this release, or else the programs from its container images. Images are read with Docker if its engine
# runs, or else with Podman, which needs no engine. Runs on softswitch, the default, need neither program. Safe to run again:
# it does nothing if both programs are installed. Called by `tools/provision.sh p4`.
#
#   SFC_TESTBED_BMV2_IMAGE, SFC_TESTBED_P4C_IMAGE   other images than the P4 project's
#   PROVISION_ROOT                                  a folder that replaces / for files to write (for tests)
#
# Exit codes: 0 both are installed, 77 at least one is unavailable; a line for each gives the reason.
set -euo pipefail
export LC_ALL=C # this script reads apt's output

root=${PROVISION_ROOT:-}
repository=https://download.opensuse.org/repositories/home:/p4lang
key=/etc/apt/keyrings/p4lang.asc
source=/etc/apt/sources.list.d/p4lang.sources
oldest_bmv2=1.15.1 # docs/bmv2.md

programs=(simple_switch p4c-bm2-ss)
declare -A package=([simple_switch]=p4lang-bmv2 [p4c-bm2-ss]=p4lang-p4c)
declare -A image=(
    [simple_switch]=${SFC_TESTBED_BMV2_IMAGE:-docker.io/p4lang/behavioral-model:latest}
    [p4c-bm2-ss]=${SFC_TESTBED_P4C_IMAGE:-docker.io/p4lang/p4c:latest}
)
declare -A without=([simple_switch]="--switch bmv2 cannot run" [p4c-bm2-ss]="make p4 cannot run")
# Further arguments for tar in the image: p4c looks for its include files in its own folder.
declare -A beside=([p4c-bm2-ss]="-C /usr/local/share/p4c p4include")
declare -A reasons=([simple_switch]="" [p4c-bm2-ss]="")

# Archives a program, its libraries and its loader, all in one folder. Runs in the image.
# shellcheck disable=SC2016 # the shell in the image expands the variables
pack='program=$(command -v "$1") || { echo "has no $1" >&2; exit 1; }
    shift
    set -- "$program" $(ldd "$program" | grep -o "/[^ ]*") "$@"
    exec tar --create --dereference --hard-dereference --absolute-names --transform "s,^/.*/,," "$@"'

work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
: > "$work/said"
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
else
    as_root=(sudo)
fi
# shellcheck source=tools/progress.sh
. "$(dirname "$0")/progress.sh"

lacks() { # PROGRAM REASON
    reasons[$1]+="${reasons[$1]:+; }$2"
}

# Prints the error message of the latest command as one line.
said() {
    awk '/rror|^E:/ { error = $0 } NF { last = $0 } END { print error ? error : last }' "$work/said"
}

version_of() { # COMMAND...
    { "$@" --version || true; } 2>&1 |
        awk '!found && match($0, /[0-9]+\.[0-9]+\.[0-9]+/) { found = 1; print substr($0, RSTART, RLENGTH) }'
}

is_new_enough() { # PROGRAM VERSION
    [ "$1" != simple_switch ] || dpkg --compare-versions "$2" ge "$oldest_bmv2"
}

# Sets lacking.
look() {
    local program version
    lacking=()
    hash -r
    for program in "${programs[@]}"; do
        version=$(version_of "$program")
        if [ -z "$version" ] || ! is_new_enough "$program" "$version"; then
            lacking+=("$program")
        fi
    done
}

update_lists() {
    with_progress "reading the lists of packages" "$work/said" apt_get update
}

install_packages() {
    with_progress "installing $*" "$work/said" apt_get install -y --no-install-recommends "$@"
}

# Adds the P4 project's repository, which has one folder for each supported release.
add_repository() {
    local ID="" VERSION_ID="" PRETTY_NAME="this system" folder status=0
    # shellcheck source=/dev/null
    . "$root/etc/os-release"
    folder=${ID/#ubuntu/xUbuntu}_$VERSION_ID
    folder=${folder/#debian/Debian}
    if ! command -v wget > /dev/null; then
        update_lists && install_packages ca-certificates wget || return 1
    fi
    wget --quiet --tries=2 --timeout=20 --output-document="$work/key" "$repository/$folder/Release.key" || status=$?
    case $status in
        0) ;;
        8) echo "the P4 project has no packages for $PRETTY_NAME" > "$work/said" && return 1 ;;
        *) echo "no answer from ${repository%%/repositories*}" > "$work/said" && return 1 ;;
    esac
    printf '%s\n' "Types: deb" "URIs: $repository/$folder/" "Suites: ./" "Signed-By: $key" > "$work/source"
    "${as_root[@]}" install -D --mode=644 "$work/key" "$root$key" &&
        "${as_root[@]}" install -D --mode=644 "$work/source" "$root$source" || return 1
    update_lists || { remove_repository && return 1; }
}

remove_repository() {
    "${as_root[@]}" rm -f "$root$source" "$root$key"
}

from_packages() { # PROGRAM...
    local program version used=yes
    if [ ! -e "$root$source" ]; then
        if ! add_repository; then
            for program; do lacks "$program" "$(said)"; done
            return
        fi
        used=no
    fi
    for program; do
        version=$(apt-cache policy "${package[$program]}" | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }')
        if [ -z "$version" ]; then
            lacks "$program" "the P4 project's repository has no ${package[$program]}"
        elif ! is_new_enough "$program" "$version"; then
            lacks "$program" "${package[$program]} is $version, older than $oldest_bmv2"
        elif install_packages "${package[$program]}"; then
            echo "$program: package ${package[$program]} $version"
            used=yes
        else
            lacks "$program" "${package[$program]}: $(said)"
        fi
    done
    [ "$used" = yes ] || remove_repository
}

# Sets engine.
find_engine() {
    if command -v docker > /dev/null && "${as_root[@]}" docker info > /dev/null 2>&1; then
        engine=docker
    elif command -v podman > /dev/null || { update_lists && install_packages podman; }; then
        engine=podman
    else
        return 1
    fi
}

unpack_image() { # NAME FOLDER WORDS-FOR-PACK...
    local name=$1 folder=$2
    shift 2
    "${as_root[@]}" "$engine" image inspect "$name" > /dev/null 2>&1 ||
        with_progress "downloading the image $name" "$work/said" "${as_root[@]}" "$engine" pull "$name" || return 1
    mkdir "$folder"
    "${as_root[@]}" "$engine" run --rm --network none --entrypoint sh "$name" -c "$pack" - "$@" 2> "$work/said" |
        tar --extract --no-same-owner --directory="$folder" 2> /dev/null # the engine's message is reported instead
}

from_image() { # PROGRAM
    local program=$1 name=${image[$1]} new=$work/$1 home=$root/usr/local/lib/p4lang/$1 words loader version
    read -ra words <<< "${beside[$program]:-}"
    unpack_image "$name" "$new" "$program" "${words[@]}" || return 1
    # The program runs with the image's loader and libraries, because its C library may be newer than this system's.
    loader=$(cd "$new" && echo ld*.so*)
    version=$(version_of "$new/$loader" --inhibit-cache --library-path "$new" "$new/$program")
    if [ -z "$version" ]; then
        echo "its $program does not run on this system" > "$work/said" && return 1
    elif ! is_new_enough "$program" "$version"; then
        echo "its $program is $version, older than $oldest_bmv2" > "$work/said" && return 1
    fi
    printf '%s\n' "#!/bin/sh" "# $program of $name, installed by tools/provision-p4.sh" \
        "exec $home/$loader --inhibit-cache --library-path $home $home/$program \"\$@\"" > "$work/start"
    "${as_root[@]}" rm -rf "$home" &&
        "${as_root[@]}" mkdir -p "$home" 2> "$work/said" &&
        "${as_root[@]}" cp -r "$new/." "$home/" 2> "$work/said" &&
        "${as_root[@]}" install -D --mode=755 "$work/start" "$root/usr/local/bin/$program" 2> "$work/said" &&
        echo "$program: version $version from $name"
}

from_images() { # PROGRAM...
    local program
    if ! find_engine; then
        for program; do lacks "$program" "no Docker engine answers, and Podman cannot be installed"; done
        return
    fi
    for program; do
        from_image "$program" || lacks "$program" "${image[$program]}: $(said)"
    done
}

look
[ ${#lacking[@]} -gt 0 ] || exit 0
from_packages "${lacking[@]}"
look
[ ${#lacking[@]} -eq 0 ] || from_images "${lacking[@]}"
look
for program in "${lacking[@]}"; do
    echo "provision.sh: no $program, ${without[$program]}: ${reasons[$program]:-it was installed but is not on the PATH}" >&2
done
[ ${#lacking[@]} -eq 0 ] || exit 77
