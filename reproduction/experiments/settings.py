# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings that several experiments share."""

from __future__ import annotations

GO_BACK_N = {"transport.loss_recovery": "go-back-n", "transport.loss_recovery_parameters": {}}
"""The loss recovery of the paper's testbed, which replaces the scheme's own."""
