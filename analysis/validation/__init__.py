# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live run held against the virtual one of the same flows: in which figures, and how far apart they may be."""
