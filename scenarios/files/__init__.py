# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flow lists as files: ours, and the HPCC simulator's."""
