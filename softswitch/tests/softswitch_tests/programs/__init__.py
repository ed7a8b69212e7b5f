# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The programs of the tests: P4 sources, their compiled artifacts, and one written in C."""
