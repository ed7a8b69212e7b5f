# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The embedded P4 target: BMv2 JSON compiled to C, and the v1model switch that runs it."""
