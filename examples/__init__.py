# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scripts that build a live network, in the way of Mininet's own: `python -m examples.incast`."""
