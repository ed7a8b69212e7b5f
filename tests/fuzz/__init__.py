# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fuzz tests: unusual and malformed inputs for every place where the testbed reads external input."""
