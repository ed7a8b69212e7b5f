# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Queues of the P4 tutorials' exercises ecn, mri and link_monitor, measured on softswitch and BMv2, against theory."""
