# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The scenarios of the paper's experiments in `sfc_testbed/reproduction/experiments`, by their kind of traffic."""
