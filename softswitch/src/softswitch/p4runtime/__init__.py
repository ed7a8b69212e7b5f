# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A P4Runtime server that translates requests to the control commands of a running softswitch."""
