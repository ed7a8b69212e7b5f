# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A plot of each run's page, and a quantity: a column of sweeps and comparisons, which claims may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sfc_testbed as sfc

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@sfc.plot("messages", "When each message was under way. Messages that wait for others begin when these have ended.")
def messages(run: sfc.Run, axes: Axes) -> None:
    """Draw one bar per message."""
    for tag, flows in run.flows.drop_nulls("finish_us").group_by("tag", maintain_order=True):
        axes.barh(flows["flow_id"], flows["finish_us"] - flows["start_us"], left=flows["start_us"], label=str(tag[0]))
    axes.set(xlabel="model time, µs", ylabel="message")
    axes.legend()


@sfc.quantity("job-time", "µs")
def job_time(run: sfc.Run) -> float | None:
    """Return the time until the last message has arrived; None if one has not."""
    ends = run.flows["finish_us"].to_list()
    return None if None in ends else max(ends)
