# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a program is made of once it is read: typed nodes, where they came from, and errors that say so."""
