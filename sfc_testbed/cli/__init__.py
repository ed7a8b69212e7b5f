# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command line: what people type becomes calls of the testbed and of the reproduction."""
