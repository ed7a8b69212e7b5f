# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Switch targets that forward the packets of a live run: softswitch and BMv2."""
