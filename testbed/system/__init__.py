# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a run has in this machine: child processes, namespaces, run ids, and how all of it is found and ended."""
