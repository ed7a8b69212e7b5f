# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One module for each place: what is sent there, and what must hold whatever is sent."""
