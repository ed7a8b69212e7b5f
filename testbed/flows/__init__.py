# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What follows from a flow list and its network before anything runs: ideal times, and when what waits may begin."""
