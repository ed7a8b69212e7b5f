# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The choice of a live run's dilation, from a dry run and the measured costs of this machine."""
