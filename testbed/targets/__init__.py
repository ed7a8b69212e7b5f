# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What forwards the packets of a live run: softswitch or BMv2, and the table of both."""
