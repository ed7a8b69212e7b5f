# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loss recoveries, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.loss_recovery.base import LossRecovery, PacketOrder
from sfc_testbed.hosts.transport.loss_recovery.go_back_n import GoBackN
from sfc_testbed.hosts.transport.loss_recovery.irn import Irn
from sfc_testbed.hosts.transport.loss_recovery.ndp import Ndp
from sfc_testbed.request.table import Table

_ROWS: dict[str, type[LossRecovery]] = {
    "go-back-n": GoBackN,
    "irn": Irn,
    "ndp": Ndp,
}
LOSS_RECOVERIES = Table("loss recovery", _ROWS)

__all__ = ["LOSS_RECOVERIES", "LossRecovery", "PacketOrder"]
