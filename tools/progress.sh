# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Functions for the set-up scripts, to be sourced: a long command is announced, shows every ten seconds that it is alive, and
# prints its output only if it fails.

PROGRESS_SECONDS=${PROGRESS_SECONDS:-10}

# with_progress WHAT LOG COMMAND...
#
# Prints WHAT, runs the command with its output in the file LOG, and prints every ten seconds the time and the latest line of
# the output. Returns the command's exit code.
with_progress() {
    local log=$2 status=0 reporter
    echo "$1"
    shift 2
    exec 9> >(_report_alive "$log")
    reporter=$!
    "$@" > "$log" 2>&1 9>&- || status=$?
    exec 9>&-
    wait "$reporter" || true
    return "$status"
}

# or_end WHAT COMMAND...
#
# The same with a log of its own. A failure prints the last 20 lines of the log and ends the script.
or_end() {
    local what=$1 log status=0
    shift
    log=$(mktemp)
    with_progress "$what" "$log" "$@" || status=$?
    if [ "$status" -ne 0 ]; then
        tail --lines=20 "$log" >&2
        echo "failed: $what" >&2
    fi
    rm -f "$log"
    [ "$status" -eq 0 ] || exit "$status"
}

# Ends when its standard input does, and so with the script that started it, also after kill -9. Not by a signal: one that
# arrived at once would run the script's EXIT trap here.
_report_alive() {
    local began=$SECONDS line
    until read -r -t "$PROGRESS_SECONDS" || [ $? -le 128 ]; do
        line=$(tail --lines=1 "$1" | tr -cd '[:print:]' | cut -c1-90)
        echo "  $((SECONDS - began)) s${line:+: $line}"
    done
}

# Runs apt-get as root (`as_root` is the command for that). While another process holds a lock of apt, such as the system's
# own updates after it has started, waits for up to ten minutes: apt-get waits for the lock of packages by itself, but not
# for the lock of package lists.
apt_get() {
    local began=$SECONDS output status
    output=$(mktemp)
    while true; do
        status=0
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o DPkg::Lock::Timeout=600 "$@" 2>&1 |
            tee "$output" || status=${PIPESTATUS[0]}
        if [ "$status" -eq 0 ] || ! grep -q "Could not get lock" "$output" || [ $((SECONDS - began)) -gt 600 ]; then
            break
        fi
        echo "waiting for another process that uses apt"
        sleep 5
    done
    rm -f "$output"
    return "$status"
}
