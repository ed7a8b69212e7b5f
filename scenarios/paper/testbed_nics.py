# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Host settings of the paper's testbed, which has RDMA NICs; its simulations use the HPCC simulator's hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NICS: Mapping[str, Any] = {"congestion_notice": "cnp"}
"""RoCEv2 NICs report marked packets in CNPs; the simulator's hosts report them in acknowledgements."""
