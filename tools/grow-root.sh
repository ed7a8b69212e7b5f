#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Extends the root file system of a virtual machine to the end of its disk, which the Vagrantfile makes larger than the
# box's. Does nothing unless the root is ext4 on the last partition of the disk with at least 1 GiB free behind it.
set -euo pipefail

device=$(findmnt --noheadings --output SOURCE --nofsroot /)
name=$(basename "$device")
[ "$(findmnt --noheadings --output FSTYPE /)" = ext4 ] && [ -e "/sys/class/block/$name/partition" ] || exit 0
partition=$(< "/sys/class/block/$name/partition")
disk=$(basename "$(readlink -f "/sys/class/block/$name/..")")
free_sectors=$(($(< "/sys/class/block/$disk/size") - $(< "/sys/class/block/$name/start") - $(< "/sys/class/block/$name/size")))
[ "$free_sectors" -gt $((1 << 21)) ] || exit 0 # 1 GiB of sectors of 512 bytes

# sfdisk refuses if another partition follows.
echo ", +" | sfdisk --no-reread --force --partno "$partition" "/dev/$disk" > /dev/null 2>&1 || exit 0
partx --update --nr "$partition" "/dev/$disk"
resize2fs "$device" > /dev/null 2>&1
echo "the root file system now has $(df --human-readable --output=size / | tail --lines=1 | tr -d ' ')"
