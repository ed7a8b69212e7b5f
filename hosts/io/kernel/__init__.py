# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the loop of a live run asks of the kernel for every frame: in Python, and in C where that was compiled."""
