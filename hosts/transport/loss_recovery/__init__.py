# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loss recoveries, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.loss_recovery.base import LossRecovery, PacketOrder
from sfc_testbed.request.table import Table

LOSS_RECOVERIES: Table[type[LossRecovery]] = Table.of_modules(
    "loss recovery",
    __name__,
    {
        "go-back-n": "go_back_n:GoBackN",
        "irn": "irn:Irn",
        "ndp": "ndp:Ndp",
    },
)

__all__ = ["LOSS_RECOVERIES", "LossRecovery", "PacketOrder"]
