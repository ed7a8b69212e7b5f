# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the paper's testbed has in its hosts: RDMA NICs, where its simulations have the HPCC simulator's hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NICS: Mapping[str, Any] = {"congestion_notice": "cnp"}
"""A RoCEv2 NIC tells of marked packets by CNPs; the simulator does so in acknowledgements."""
