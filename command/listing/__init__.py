# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What `list` shows: settings as rows, and the tables made of them."""
