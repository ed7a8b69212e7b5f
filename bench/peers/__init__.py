# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Comparison with other simulators where they are installed. Their code is not part of this project."""
