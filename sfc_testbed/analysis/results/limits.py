# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The limits of lateness on which the verdict depends.

Two limits of the error in the peak buffer are chosen. The error per lateness is measured. The limits of lateness are
computed from these. To measure the error again, run `validate --dilation D` for several dilations, see
docs/fidelity.md#error-against-lateness, and change `ERROR_PER_LATENESS` only.
"""

from __future__ import annotations

FAITHFUL_ERROR = 0.05
"""The largest error of the peak buffer, relative to the virtual run, in a faithful run: the testbed's goal."""

TRUSTED_ERROR = 0.25
"""The error of the peak buffer above which a run is invalid. The paper's effects are 20 % and more, so such a run could
not show them."""

ERROR_PER_LATENESS = 5 / 3
"""The relative error of the peak buffer divided by the P99 lateness (a share of the base RTT), for the scheme `sfc`,
which is the most sensitive to lateness.

If feedback is x base RTTs late, senders continue at line rate for that time. This adds x BDP per BTS loop and may cause
a second BTS. Measured with 40 incasts at the scales ci and laptop, with three seeds, on two cores: the error was at
most 4.5 % up to a lateness of 3 %, and 10 % at 3.7 %. The P99 does not bound the error, because the error depends on
the few packets that trigger the first BTS: one run between the limits had an error of 34 %. The queue of `irn` does not
depend on feedback, and its error was 0.2 % at a lateness of 36 %.
"""

# The error of the spacing of back-to-back frames has the same limits, also as a share of the base RTT. The ideal
# spacing is frame bytes / link rate. A frame that departs x base RTTs too early or too late changes the queue at the
# next hop by x BDP, as much as a lateness of x. Spacing is measured on busy links only, where queues grow, while
# lateness covers all departures. So a run whose idle ports are punctual but whose bottleneck is irregular fails by
# its spacing.

DEGRADED_ABOVE = FAITHFUL_ERROR / ERROR_PER_LATENESS
"""The highest P99 lateness of a faithful run, as a share of the base RTT."""

INVALID_ABOVE = TRUSTED_ERROR / ERROR_PER_LATENESS
"""The P99 lateness above which a run is invalid, as a share of the base RTT."""
