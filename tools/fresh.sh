#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Runs the README's commands on a Debian or Ubuntu that has nothing but make, sudo and CA certificates: builds such a root in
# a folder, copies the files of this checkout into it, runs the parts there, and removes all of it again.
#
#   tools/fresh.sh SUITE [PART ...]
#
#   SUITE   bookworm or trixie (Debian 12, 13), jammy, noble or resolute (Ubuntu 22.04, 24.04, 26.04)
#   PART    demo                 `make demo`, as an ordinary user with sudo
#           test                 `make test`, as root
#           test-without-root    the tests that need no root, as an ordinary user
#           short-test           of these, the short ones of what a machine can lack: compilers, packages, the command
#           Without a part: demo test.
#
# Packages come from where this machine takes its own: apt's sources (the suite exchanged) and its proxies, pip's files and
# variables with the folders that they name, CA certificates, /etc/hosts and /etc/resolv.conf. For the other distribution they
# come from its main mirror.
#
#   FRESH_MIRROR    a mirror to use instead
#   FRESH_KEYRING   the keys that sign it; by default those of the package debian-archive-keyring or ubuntu-keyring
#   FRESH_ROOT      the folder to work below, /var/tmp unless set; some 3 GB
#   FRESH_CACHE     a folder that keeps the distribution's packages for the next time
#
# Exit codes: 0 every part passed, 1 one failed, 2 bad input, 77 this machine cannot do it (no root, no mirror).
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)

refuse() {
    echo "fresh.sh: $*" >&2
    exit 2
}

cannot() {
    echo "fresh.sh: cannot be done here: $*" >&2
    exit 77
}

# git in this checkout, which may be another user's.
ours() {
    git -c safe.directory="$tree" -C "$tree" "$@"
}

# "URI suite component" a line, of this machine's sources for the distribution itself, its updates and security fixes.
sources_of_machine() {
    local machine
    # shellcheck source=/dev/null
    machine=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016 # the names are apt's
    apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        awk -v machine="$machine" -v suite="$suite" -v origin="$origin" -v components="$components" '
            $1 == origin && "," components "," ~ "," $4 "," && $3 ~ "^" machine "(-updates|-security)?$" {
                sub("^" machine, suite, $3)
                print $2, $3, $4
            }' | sort --unique
}

# The same of one mirror.
sources_of_mirror() { # URI
    local part
    for part in "$suite" "$suite-updates"; do
        printf "$1 $part %s\n" ${components//,/ }
    done
}

answers() {
    if [[ $1 == file:* ]]; then
        [ -e "${1#file:}" ]
    else
        env ${proxy:+"http_proxy=$proxy"} wget --quiet --spider --tries=2 --timeout=20 "$1"
    fi
}

# PID 1 of the namespaces hears the interrupt as everybody in them does; what has not ended in time is killed with it.
interrupt() {
    trap '' INT TERM HUP
    kill -INT -- "-$session"
    timeout 30 tail --pid="$session" --follow /dev/null || kill -KILL "$(< "/proc/$session/task/$session/children")"
    wait "$session" || true
    echo "fresh.sh: interrupted; removing $place" >&2
    exit 130
}

suite=${1:-}
case $suite in
    bookworm | trixie)
        origin=Debian components=main mirror_of_all=http://deb.debian.org/debian
        keyring=/usr/share/keyrings/debian-archive-keyring.gpg
        ;;
    jammy | noble | resolute)
        origin=Ubuntu components=main,universe mirror_of_all=http://archive.ubuntu.com/ubuntu
        keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
        ;;
    *) refuse "unknown suite '$suite'; choose from bookworm, trixie, jammy, noble and resolute" ;;
esac
keyring=${FRESH_KEYRING:-$keyring}
shift
[ $# -gt 0 ] || set -- demo test
for part; do
    [[ $part =~ ^(demo|test|test-without-root|short-test)$ ]] ||
        refuse "unknown part '$part'; choose from demo, test, test-without-root and short-test"
done

[ "$(id -u)" -eq 0 ] || cannot "needs root"
ours ls-files > /dev/null || refuse "git does not know $tree as a checkout"
unshare --mount --pid --fork true || cannot "root may not make namespaces"
"$tree/tools/provision.sh" fresh || cannot "debootstrap is not installed"

[ -e "$keyring" ] || cannot "no $keyring; install ${origin,,}'s keyring, or name one in FRESH_KEYRING"

sources=$(sources_of_machine)
if [ -z "$sources" ]; then # apt's lists may have been removed, as container images do
    apt-get update -qq || true
    sources=$(sources_of_machine)
fi
if [ -n "${FRESH_MIRROR:-}" ] || [ -z "$sources" ]; then
    sources=$(sources_of_mirror "${FRESH_MIRROR:-$mirror_of_all}")
fi
mirror=$(awk -v suite="$suite" '$2 == suite { print $1; exit }' <<< "$sources")
eval "$(apt-config shell proxy Acquire::http::Proxy)"
answers "${mirror%/}/dists/$suite/Release" || cannot "no answer from $mirror for $suite"

place=$(mktemp --directory "${FRESH_ROOT:-/var/tmp}/sfc-fresh.XXXXXX")
trap 'rm -rf --one-file-system "$place"' EXIT
# kill -9 runs no trap. Whoever works there holds the end of this pipe; who reads it removes the folder after the last.
exec {working}> >(exec setsid bash -c 'cat; rm -rf --one-file-system "$1"' - "$place" > /dev/null 2>&1)
mkdir "$place/root" "$place/tree"
echo "$sources" > "$place/sources"
ours ls-files -z --cached --others --exclude-standard --exclude=.venv |
    (cd "$tree" && while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done) |
    tar --create --directory="$tree" --null --files-from=- | tar --extract --directory="$place/tree" --no-same-owner

# A session of its own: no terminal that sudo could meddle with, and one group to interrupt. A shell without job control
# makes its background commands deaf to interrupts, which env undoes.
env --default-signal=INT,QUIT setsid setpriv --pdeathsig=KILL \
    unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
    "$tree/tools/fresh-root.sh" "$place" "$suite" "$mirror" "$keyring" "$components" "$@" < /dev/null &
session=$!
trap interrupt INT TERM HUP
wait "$session" || exit 1
