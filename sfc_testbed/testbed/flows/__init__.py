# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Values computed from a flow list and its network before a run: ideal times, and starts of dependent messages."""
