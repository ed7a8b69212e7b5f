# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Live runs held against virtual ones of the same flows: makes both, and keeps what came out."""
