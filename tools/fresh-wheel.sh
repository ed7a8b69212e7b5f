#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Follows docs/installation.md on the bare system of fresh-root.sh, which alone calls this script: builds the wheels, hides
# the tree, installs the page's packages and the wheels, and then executes in an empty folder a virtual run, a live run as
# root, and a notebook with nbconvert. It prints the seconds of each step.
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)
page=$tree/docs/installation.md

# Prints the page's shell block that begins with this text.
block() { # BEGINNING
    awk -v first="$1" '
        /^```/ { inside = 0 }
        previous == "```sh" && index($0, first) == 1 { inside = 1 }
        inside { print }
        { previous = $0 }' "$page"
}

step() { # WHAT COMMAND...
    local began=$SECONDS what=$1
    shift
    echo "-- $what"
    "$@"
    echo "-- $what: $((SECONDS - began)) s"
}

# Writes a notebook with one cell, and a table of the run as its result.
write_notebook() {
    cat > notebook.ipynb << 'END'
{"cells": [{"cell_type": "code", "execution_count": null, "id": "run", "metadata": {}, "outputs": [], "source":
    "import sfc_testbed as sfc\n\nrun = sfc.run('incast', scheme='sfc', clock='virtual')\nprint('verdict:', run.verdict)\nrun.flows"
}], "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}
END
}

notebook_has_result() {
    grep --quiet 'verdict: faithful' executed.ipynb || {
        cat executed.ipynb
        return 1
    }
}

install=$(block 'sudo apt-get install')
echo 'APT::Get::Assume-Yes "true";' | sudo tee /etc/apt/apt.conf.d/91yes
sudo apt-get update -qq
cd "$(mktemp --directory)"
step "packages of the distribution" bash -euc "$(sed '1!d' <<< "$install") > packages.log || { cat packages.log; exit 1; }"
/usr/bin/python3 -m venv builder
step "make wheel, without the rest of make setup" env --chdir="$tree" "$PWD/builder/bin/python" -m tools.build_wheels
mv "$tree"/dist/*.whl .

# Without the tree, nothing that the commands find can be from there.
mv "$tree" "$tree-hidden"
trap 'mv "$tree-hidden" "$tree"' EXIT

step "environment and wheels" bash -eu <<< "$(sed '1d; s/pip install/pip install --quiet/' <<< "$install")"
step "doctor" env/bin/sfc-testbed doctor
step "first virtual run, which compiles the engine" env/bin/sfc-testbed run incast --scheme sfc --clock virtual
step "the engine is compiled" test -z "$(env/bin/python -m sfc_testbed.native 2>&1)"
step "second virtual run" env/bin/sfc-testbed run incast --scheme sfc --clock virtual
step "live run as root" sudo env/bin/sfc-testbed run incast --scheme sfc --retry
step "nbconvert" env/bin/pip install --quiet nbconvert ipykernel
write_notebook
step "notebook" env/bin/python -m nbconvert --to notebook --execute --output executed.ipynb notebook.ipynb
notebook_has_result
