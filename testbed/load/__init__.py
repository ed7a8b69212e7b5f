# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The work of a live run for this machine, estimated before the start: frames, their cost, and lateness."""
