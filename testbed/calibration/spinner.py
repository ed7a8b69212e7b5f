# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A process that computes without a pause: ``python -m testbed.calibration.spinner SECONDS``.

It prints one line of JSON: the rounds of work in these seconds of wall time, and the shortest time of a round in ns.
The shortest round shows the speed of a free core. A core that is shared, throttled by a quota or taken by a hypervisor
does fewer rounds.
"""

from __future__ import annotations

import json
import sys
import time

from processes.parent import die_with_parent

_ADDITIONS = 5_000


def main(seconds: float) -> None:
    """Compute, and print the number of rounds and the shortest round."""
    die_with_parent()
    rounds, shortest_ns = 0, sys.maxsize
    now_ns = time.monotonic_ns()
    end_ns = now_ns + round(seconds * 1e9)
    while now_ns < end_ns:
        for _ in range(_ADDITIONS):
            pass
        previous_ns, now_ns = now_ns, time.monotonic_ns()
        rounds += 1
        shortest_ns = min(shortest_ns, now_ns - previous_ns)
    print(json.dumps({"rounds": rounds, "shortest_ns": shortest_ns}))


if __name__ == "__main__":
    main(float(sys.argv[1]))
