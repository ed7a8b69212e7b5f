# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Resources of a run on this machine: child processes, namespaces and run IDs, and how they are found and ended."""
