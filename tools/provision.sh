#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Installs the testbed's packages from the distribution (Debian 12 and 13, Ubuntu 22.04, 24.04 and 26.04). Safe to run again:
# it does nothing if all packages are installed. make, CI, Vagrant and the Dockerfile all call this.
#
#   tools/provision.sh          packages for the testbed
#   tools/provision.sh tests    also packages that only the tests need
#   tools/provision.sh fresh    only the packages for tools/fresh.sh
#   tools/provision.sh emulator only the packages that emulate another processor for tools/fresh.sh
#   tools/provision.sh p4       BMv2 and p4c of the P4 project, if they are available (tools/provision-p4.sh)
set -euo pipefail

packages=(
    gcc             # softswitch compiles the P4 program
    iperf3          # background traffic, and the library of its Python binding
    iproute2        # netem
    iputils-ping
    libc6-dev
    make
    mininet
    procps
    python3
    python3-dev     # Python.h: the host engine is compiled
    python3-venv
    tcpdump
    tshark          # decodes captures
)
case "${1:-}" in
    tests) # A browser opens the report pages. Ubuntu's package only installs a snap, so tests that need a browser skip there.
        [ "$(. /etc/os-release && echo "$ID")" = ubuntu ] || packages+=(chromium)
        ;;
    fresh) packages=(debian-archive-keyring debootstrap gpgv) ;; # keyring and gpgv check the archive's signatures
    emulator) packages=(binfmt-support qemu-user-static) ;;
    p4) exec "$(dirname "$0")/provision-p4.sh" ;;
    '') ;;
    *) echo "provision.sh: unknown argument '$1'; choose tests, fresh, emulator or p4" >&2 && exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" != installed ]; then
        missing+=("$package")
    fi
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=()
else
    as_root=(sudo)
fi
# shellcheck source=tools/progress.sh
. "$(dirname "$0")/progress.sh"
or_end "reading the lists of packages" apt_get update
or_end "installing ${missing[*]}" apt_get install -y --no-install-recommends "${missing[@]}"
