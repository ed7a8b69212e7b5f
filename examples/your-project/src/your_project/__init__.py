# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ideas for data-centre networks, as extensions of SFC Testbed: one module per idea."""
