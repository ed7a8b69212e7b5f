#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Installs what the testbed needs from the distribution (Debian 12 and 13, Ubuntu 22.04, 24.04 and 26.04). Safe to run again:
# it does nothing when every package is there. make, CI, Vagrant and the Dockerfile all call this.
#
#   tools/provision.sh          what the testbed needs
#   tools/provision.sh tests    also what only its tests need
#   tools/provision.sh fresh    what tools/fresh.sh needs, and nothing else
#   tools/provision.sh p4       BMv2 and p4c of the P4 project, as far as they are to be had (tools/provision-p4.sh)
set -euo pipefail

packages=(
    gcc             # softswitch compiles the P4 program
    iperf3          # background traffic of unmodified programs, and the library of its Python binding
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
    tshark          # decodes captures in tests and for people
)
case "${1:-}" in
    tests) # opens the report pages; Ubuntu's package only asks for a snap, and the tests that need a browser skip there
        [ "$(. /etc/os-release && echo "$ID")" = ubuntu ] || packages+=(chromium)
        ;;
    fresh) packages=(debian-archive-keyring debootstrap gpgv) ;; # the two beside debootstrap check the archive's signatures
    p4) exec "$(dirname "$0")/provision-p4.sh" ;;
    '') ;;
    *) echo "provision.sh: unknown part '$1'; choose from tests, fresh and p4" >&2 && exit 2 ;;
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
