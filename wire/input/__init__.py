# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Validation of settings and files that users supply, shared by all parts of the testbed."""
