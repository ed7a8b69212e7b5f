# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fuzz tests: malformed and hostile inputs to every interface of the testbed."""
