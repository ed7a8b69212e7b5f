# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From the rows of a trace to numbers. Knows one trace a file, and no file format."""
