#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Second half of fresh.sh, which alone calls this script. It runs as PID 1 in new mount and PID namespaces, so that its
# mounts and processes end with it. It builds a root file system, switches to it, and runs the parts there.
#
# It uses pivot_root, not chroot: a program that enters another mount namespace and returns would be outside a chroot.
set -euo pipefail
trap 'exit 130' INT TERM HUP

place=$1 suite=$2 mirror=$3 keyring=$4 components=$5
shift 5
root=$place/root
user=fresh
home=/home/$user
tree=$home/sfc-testbed
carried_variables='PIP_[A-Z_]+|[a-z]+_proxy|[A-Z]+_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE'
near_the_machine=(
    tests/analysis/report tests/cli tests/native tests/hosts/io softswitch/tests/softswitch_tests/codegen
    tests/testbed/execution tests/testbed/system tests/testbed/virtual
)

build() {
    local cache=() script=()
    mount --bind "$root" "$root" # pivot_root needs a mount point
    if [ -n "${FRESH_CACHE:-}" ]; then
        mkdir -p "$FRESH_CACHE"
        cache=("--cache-dir=$FRESH_CACHE")
    fi
    if [ ! -e "/usr/share/debootstrap/scripts/$suite" ]; then # the release is newer than debootstrap
        script=("$([ "$components" = main ] && echo sid || echo gutsy)")
    fi
    echo "== $suite: a bare root"
    eval "$(apt-config shell proxy Acquire::http::Proxy)" # debootstrap does not use apt's proxy
    env ${proxy:+"http_proxy=$proxy"} debootstrap --arch="$FRESH_ARCH" --variant=minbase --include=ca-certificates,make,sudo "${cache[@]}" \
        --keyring="$keyring" --components="$components" "$suite" "$root" "$mirror" "${script[@]}" > "$place/debootstrap" || { cat "$place/debootstrap" && exit 1; }
    if [ -n "${FRESH_CACHE:-}" ]; then
        mount --bind "$FRESH_CACHE" "$root/var/cache/apt/archives"
    fi
}

# Copies the machine's configuration of names, certificates, apt and pip.
carry_configuration() {
    local file
    cp --dereference /etc/hosts /etc/resolv.conf "$root/etc/"
    if [ -d /usr/local/share/ca-certificates ]; then
        cp --dereference --recursive /usr/local/share/ca-certificates "$root/usr/local/share/"
    fi
    sed 's/^/deb /' "$place/sources" > "$root/etc/apt/sources.list"
    apt-config dump | { grep -E '^Acquire::(https?|Check|Retries|ForceIP)' || true; } > "$root/etc/apt/apt.conf.d/90machine"
    for file in /etc/pip.conf /etc/xdg/pip/pip.conf; do
        if [ -e "$file" ]; then install -D --mode=644 "$file" "$root$file"; fi
    done
    for file in .config/pip/pip.conf .pip/pip.conf; do
        if [ -e "$HOME/$file" ]; then install -D --mode=644 "$HOME/$file" "$root/etc/skel/$file"; fi
    done
    mapfile -t environment < <(env | grep -E "^($carried_variables)=")
}

# Mounts the folders and files named in that configuration read-only at the same paths.
carry_files() {
    local files=("$root/etc/apt/sources.list" "$root/etc/apt/apt.conf.d/90machine") path
    mapfile -t -O "${#files[@]}" files < <(find "$root/etc" -name pip.conf)
    while read -r path; do
        if [ ! -e "$path" ] || [ -e "$root$path" ]; then
            continue
        fi
        if [ -d "$path" ]; then mkdir -p "$root$path"; else install -D /dev/null "$root$path"; fi
        mount --bind "$path" "$root$path"
        mount -o remount,bind,ro "$root$path"
    done < <({ cat "${files[@]}" && printf '%s\n' "${environment[@]}"; } | paths_in)
}

# Prints the absolute paths in a text, plain or as file: URLs. For a package index `.../simple` it prints the parent
# folder, because the pages of an index link to files beside the index.
paths_in() {
    tr ' \t"=;' '\n' | sed -En 's,^(file:(//)?)?(/.+),\3,p' | sed -E 's,(.)/simple/?$,\1,' | sort --unique
}

enter() {
    mkdir -p "$root/old" "$root$home" "$root/dev/net"
    cp --recursive "$place/tree" "$root$tree"
    if [ -e /dev/net/tun ]; then mknod --mode=666 "$root/dev/net/tun" c 10 200; fi
    cd "$root"
    pivot_root . old
    cd /
    mount -t proc proc /proc
    mount -t sysfs sysfs /sys
    mount -t tmpfs -o mode=755 tmpfs /run
    mount -t tmpfs -o mode=1777 tmpfs /tmp
    mount -t tmpfs -o mode=1777 tmpfs /dev/shm
    mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts /dev/pts
    umount --lazy /old
    rmdir /old
}

# Adds an ordinary user with sudo rights, and a home directory that other users cannot read.
add_user() {
    cp --recursive /etc/skel/. ~root/
    useradd --home-dir "$home" --shell /bin/bash "$user"
    cp --recursive /etc/skel/. "$home/"
    chown --recursive "$user:$user" "$home"
    chmod 700 "$home"
    printf '%s\n' "$user ALL=(ALL) NOPASSWD: ALL" 'Defaults env_keep += "*_proxy *_PROXY"' > /etc/sudoers.d/fresh
    update-ca-certificates > /dev/null 2>&1
}

as_user() {
    setpriv --reuid="$user" --regid="$user" --init-groups env --ignore-environment "${environment[@]}" \
        HOME="$home" USER="$user" LOGNAME="$user" PATH=/usr/local/bin:/usr/bin:/bin "$@"
}

as_root() {
    env --ignore-environment "${environment[@]}" HOME=~root USER=root LOGNAME=root \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

run_part() {
    case $1 in
        demo) as_user make demo ;;
        test) as_root make test ;;
        test-without-root) as_user make test PYTEST_ARGS='-n logical --dist worksteal -m "not root"' ;;
        short-test) as_user make test PYTEST_ARGS="-n logical --dist worksteal -m 'not root and not long' ${near_the_machine[*]}" ;;
        softswitch) as_user tools/fresh-softswitch.sh ;;
        wheel) as_user tools/fresh-wheel.sh ;;
        virtual) as_root tools/provision.sh && as_user bash -c "make setup && .venv/bin/python -m tools.virtual_digests digests" ;;
    esac
}

build
carry_configuration
carry_files
enter
add_user

cd "$tree"
failed=0
for part; do
    echo "== $suite, $part"
    began=$SECONDS outcome=passed
    run_part "$part" 2>&1 | tee --ignore-interrupts /tmp/fresh-part || outcome=FAILED
    [ "$outcome" = passed ] || failed=1
    {
        echo "== $suite, $part: $outcome after $((SECONDS - began)) s; its last lines:"
        tail --lines=12 /tmp/fresh-part
    } >> /tmp/fresh-summary
done
cat /tmp/fresh-summary
exit "$failed"
