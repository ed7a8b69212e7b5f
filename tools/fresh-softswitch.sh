#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Follows softswitch/README.md on the bare system of fresh-root.sh, which alone calls this script: installs the wheel of
# softswitch into an empty environment, starts the page's Mininet script and pings through the switch. It prints the seconds
# from `pip install` to the first answer. The program is basic.json in the tree's top folder if fresh.sh has put it there.
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)
project=$tree/softswitch

# Prints the README's code block that begins with this line. A comment in that line is the block's file name, and omitted.
block() { # FIRST_LINE
    awk -v first="$1" '
        /^```/ { inside = 0 }
        previous ~ /^```./ && index($0, first) == 1 { inside = 1; if (/^#/) { previous = $0; next } }
        inside { print }
        { previous = $0 }' "$project/README.md"
}

seconds() {
    awk -v began="$began" -v now="$EPOCHREALTIME" 'BEGIN { printf "%.1f s\n", now - began }'
}

cd "$(mktemp --directory)"
echo 'APT::Get::Assume-Yes "true";' | sudo tee /etc/apt/apt.conf.d/91yes
sudo apt-get update -qq
block 'sudo apt-get install' | head --lines=-1 | bash -eux # without its last line, `pip install`
switch/bin/pip wheel --quiet --no-deps --wheel-dir . "$project"
switch/bin/python -c 'import mininet.net' || switch/bin/pip install --quiet setuptools
block '# net.py' > net.py
block '# s1-commands.txt' > s1-commands.txt
cp "$project/tests/softswitch_tests/programs/artifacts/basic.json" .
[ ! -e "$tree/basic.json" ] || cp "$tree/basic.json" .

began=$EPOCHREALTIME
switch/bin/pip install --quiet softswitch-*.whl
echo "pip install: $(seconds)"
echo 'h1 ping -c 1 h2' | sudo switch/bin/python net.py 2>&1 | while IFS= read -r line; do
    echo "$line"
    [[ $line != *'bytes from 10.0.0.2:'* ]] || echo "pip install to the first ping: $(seconds)" | tee answered
done
[ -e answered ]
