# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Traces: the files with the measurements of a run, in model units."""

from sfc_testbed.native.modules import install

install()
