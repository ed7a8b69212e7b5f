# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scripts that build a live network, in the way of Mininet's own: `sudo .venv/bin/python examples/incast.py`."""
