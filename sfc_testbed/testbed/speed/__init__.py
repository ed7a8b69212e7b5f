# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How fast a live run can be on this machine: its measurement, the frames of the run, and the dilation."""
