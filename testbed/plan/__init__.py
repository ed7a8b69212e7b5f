# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From what a person asks for to everything a run needs. Starts nothing."""
