# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A P4 program with a table of its own, whose entry is a setting.

    ./runner.py run incast --use examples/own_switch_program.py --p4 shifted --set program.q_th_shift=1

examples/p4/own_table.diff is the change of the testbed's program, and examples/p4/own_table.json the compiled program.
Where p4c is installed, name the P4 source instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

import sfc_testbed as sfc


class Shift(sfc.Settings):
    """The settings of the program, as `--set program.NAME=VALUE` sets them."""

    q_th_shift: int = Field(1, ge=0, le=31, description="Bits by which Q_th is shifted to the right.")
    only_tors: bool = Field(False, description="Whether spines keep Q_th.")


@sfc.switch_program("shifted", "p4/own_table.json", settings=Shift)
def entries(switch: str, topology: sfc.Topology, settings: Shift, dilation: sfc.Dilation) -> Iterator[sfc.TableEntry]:
    """Yield the entries of one switch. A table without a key has a default action only."""
    if topology.switch[switch].is_tor or not settings.only_tors:
        yield sfc.TableEntry("q_th_shift", "shift_q_th", parameters=(settings.q_th_shift,))
