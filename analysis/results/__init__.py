# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run's result: its fields, how it is built, the verdict, what is stored of it, and several side by side."""
