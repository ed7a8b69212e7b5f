# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generators of this project's own pages about accuracy, from results that are stored in docs/stored."""
