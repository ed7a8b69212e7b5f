#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Runs the README's commands on a bare Debian or Ubuntu that has only make, sudo and CA certificates. The script builds such
# a root file system in a folder, copies this checkout into it, runs the parts there, and removes the folder.
#
#   tools/fresh.sh SUITE [PART ...]
#
#   SUITE   bookworm or trixie (Debian 12, 13), jammy, noble or resolute (Ubuntu 22.04, 24.04, 26.04)
#   PART    demo                 `make demo`, as an ordinary user with sudo
#           test                 `make test`, as root
#           test-without-root    the tests that need no root, as an ordinary user
#           short-test           the short tests without root that depend on the machine: compilers, packages, runner.py
#           softswitch           the first ping of softswitch/README.md, through an installed wheel, without `make setup`
#           wheel                docs/installation.md without the tree: the wheels, a virtual and a live run, a notebook
#           virtual              the set-up and six virtual runs, whose traces must have the bytes that they have on this machine
#           Default: demo test.
#
# The root uses this machine's configuration: apt's sources (with the suite replaced) and proxies, pip's files and variables
# with the folders that they name, CA certificates, /etc/hosts and /etc/resolv.conf. If the suite belongs to the other
# distribution, packages come from that distribution's main mirror.
#
#   FRESH_ARCH      another processor, such as arm64, which qemu emulates, about ten times slower (default: this machine's)
#   FRESH_MIRROR    another mirror
#   FRESH_KEYRING   the keys that sign it (default: those of the package debian-archive-keyring or ubuntu-keyring)
#   FRESH_ROOT      the folder for the root, which needs about 3 GB (default: /var/tmp)
#   FRESH_CACHE     a folder that keeps the distribution's packages for the next run
#   SFC_TESTBED_P4_TUTORIALS   a checkout of the P4 tutorials: the part softswitch runs their compiled exercise `basic`
#
# Exit codes: 0 all parts passed, 1 a part failed, 2 bad input, 77 impossible on this machine (no root, no mirror).
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)

refuse() {
    echo "fresh.sh: $*" >&2
    exit 2
}

cannot() {
    echo "fresh.sh: cannot run on this machine: $*" >&2
    exit 77
}

# Runs git in this checkout, which may belong to another user.
git_in_tree() {
    git -c safe.directory="$tree" -C "$tree" "$@"
}

# Prints the machine's apt sources for the release, its updates and security fixes, one "URI suite component" a line.
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

# Prints the sources of one mirror in the same form.
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

# Interrupts all processes in the namespaces. If their PID 1 has not ended after 30 s, kills it, which kills the rest.
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
    *) refuse "unknown suite '$suite'; choose bookworm, trixie, jammy, noble or resolute" ;;
esac
keyring=${FRESH_KEYRING:-$keyring}
shift
[ $# -gt 0 ] || set -- demo test
for part; do
    [[ $part =~ ^(demo|test|test-without-root|short-test|softswitch|wheel|virtual)$ ]] ||
        refuse "unknown part '$part'; choose demo, test, test-without-root, short-test, softswitch, wheel or virtual"
done

[ "$(id -u)" -eq 0 ] || cannot "needs root"
git_in_tree ls-files > /dev/null || refuse "$tree is not a git checkout"
unshare --mount --pid --fork true || cannot "root may not create namespaces"
"$tree/tools/provision.sh" fresh || cannot "debootstrap is not installed"

export FRESH_ARCH=${FRESH_ARCH:-$(dpkg --print-architecture)}
if [ "$FRESH_ARCH" != "$(dpkg --print-architecture)" ]; then
    "$tree/tools/provision.sh" emulator || cannot "qemu-user-static is not installed"
    mountpoint --quiet /proc/sys/fs/binfmt_misc || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc ||
        cannot "the kernel has no binfmt_misc"
    update-binfmts --enable > /dev/null 2>&1 || cannot "qemu could not be registered for programs of $FRESH_ARCH"
    [ "$origin" = Debian ] || [ -n "${FRESH_MIRROR:-}" ] ||
        refuse "Ubuntu has $FRESH_ARCH on another mirror: set FRESH_MIRROR, for example to http://ports.ubuntu.com/ubuntu-ports"
fi

[ -e "$keyring" ] || cannot "$keyring does not exist; install ${origin,,}'s keyring, or set FRESH_KEYRING"

sources=$(sources_of_machine)
if [ -z "$sources" ]; then # container images often lack apt's package lists
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
# kill -9 runs no trap. Every process of this script holds the write end of this pipe; when the last one has ended, the
# reader removes the folder.
exec {working}> >(exec setsid bash -c 'cat; rm -rf --one-file-system "$1"' - "$place" > /dev/null 2>&1)
mkdir "$place/root" "$place/tree"
echo "$sources" > "$place/sources"
git_in_tree ls-files -z --cached --others --exclude-standard --exclude=.venv |
    (cd "$tree" && while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done) |
    tar --create --directory="$tree" --null --files-from=- | tar --extract --directory="$place/tree" --no-same-owner

if [[ " $* " == *" virtual "* ]]; then
    echo "== this machine: six virtual runs"
    (cd "$tree" && .venv/bin/python -m tools.virtual_digests) | tee "$place/tree/digests" || cannot "run make setup first"
fi
if [ -n "${SFC_TESTBED_P4_TUTORIALS:-}" ]; then
    cp "$SFC_TESTBED_P4_TUTORIALS/exercises/basic/build/basic.json" "$place/tree/"
fi

# A new session has no terminal that sudo could use, and is one process group to interrupt. A shell without job control lets
# its background commands ignore interrupts; `env --default-signal` undoes that.
env --default-signal=INT,QUIT setsid setpriv --pdeathsig=KILL \
    unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
    "$tree/tools/fresh-root.sh" "$place" "$suite" "$mirror" "$keyring" "$components" "$@" < /dev/null &
session=$!
trap interrupt INT TERM HUP
wait "$session" || exit 1
