# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs in virtual time."""

from sfc_testbed.native.modules import install

install()
