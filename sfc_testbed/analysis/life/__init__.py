# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The life of one flow, from what a run has stored: its traces, and its captures where there are some."""
