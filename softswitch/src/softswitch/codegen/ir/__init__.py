# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The typed form of a program: nodes, their source positions and the error class."""
