# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The NIC as a sans-IO engine: bytes and `now_ns` in, bytes and the next timer out. No clock, socket or randomness."""
