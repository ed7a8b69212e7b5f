# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How late a run may be: the one place where the verdict's limits come from.

Two errors are chosen; how much error a lateness makes is measured; the limits of lateness follow. Whoever measures anew
(`validate --dilation D` over several D; docs/fidelity.md#error-against-lateness draws it) changes
`ERROR_PER_LATENESS` alone.
"""

from __future__ import annotations

FAITHFUL_ERROR = 0.05
"""Peak buffer, live against virtual, that lateness may put off in a faithful run: the testbed's goal."""

TRUSTED_ERROR = 0.25
"""The same beyond which a run is invalid: the paper's effects are of 20 % and more, so that it could show none."""

ERROR_PER_LATENESS = 5 / 3
"""Share of error in peak buffer per share of the base RTT in P99 lateness, of the most sensitive scheme (`sfc`).

Feedback that comes x base RTTs late lets senders at line rate go on for so long, hence x BDP more per BTS loop and a
chance of a second one. Measured on incast of the scales ci and laptop, three seeds, 40 runs on two cores: up to 3 % of
lateness the error was 4.5 % at most, at 3.7 % it was 10 %. P99 is no bound: what counts is whether the few packets that
trigger the first BTS are late, so one of the runs between the limits was off by 34 %. `irn`, whose queue needs no
feedback, was 0.2 % off at 36 %.
"""

# Spacing of frames back to back, measured against bytes over rate, has the same limits: a frame x base RTTs off its
# place brings the queue behind it x BDP too early or too late, just as one that is late by x. It is not the same
# measure: it is taken on busy wires alone, where queues grow, while lateness is that of all departures; a run whose
# idle ports are punctual and whose bottleneck stutters fails by this one.

DEGRADED_ABOVE = FAITHFUL_ERROR / ERROR_PER_LATENESS
"""Share of the base RTT that P99 lateness may reach in a faithful run."""

INVALID_ABOVE = TRUSTED_ERROR / ERROR_PER_LATENESS
"""Share of the base RTT beyond which lateness makes a run invalid."""
