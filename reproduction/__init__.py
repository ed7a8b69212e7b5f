# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The paper's experiments: their claims and figures, held against runs, and the document made of it."""
