# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
#
# Functions for the set-up scripts, to be sourced. They announce a long command, show every ten seconds that it is still
# running, and print its output only if it fails.

PROGRESS_SECONDS=${PROGRESS_SECONDS:-10}

# with_progress WHAT LOG COMMAND...
#
# Prints WHAT and runs the command with its output in the file LOG. Prints the elapsed time every ten seconds, with the latest
# line of the output if that is new. Returns the command's exit code.
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
# Like with_progress, with a temporary log. A failure prints the last 20 lines of the log and ends the script.
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

# Ends when its standard input is closed, and so together with the script that started it, even after kill -9. The script
# sends no signal to end it: a signal that arrives at once would run the script's EXIT trap in this process.
_report_alive() {
    local began=$SECONDS line printed=
    until read -r -t "$PROGRESS_SECONDS" || [ $? -le 128 ]; do
        line=$(tail --lines=1 "$1" | tr -cd '[:print:]' | cut -c1-90)
        if [ "$line" = "$printed" ]; then line=; else printed=$line; fi
        echo "  $((SECONDS - began)) s${line:+: $line}"
    done
}

# Runs apt-get as root; the array `as_root` has the command for that. Waits up to ten minutes while another process holds a
# lock of apt, such as the automatic updates after a boot. apt-get itself waits for the lock of packages, but not for the
# lock of package lists.
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
