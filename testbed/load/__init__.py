# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How much work a live run is for this machine, reckoned before it starts: its frames, their cost, the lateness."""
