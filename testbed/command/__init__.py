# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the words of the command line mean and what its user sees while they are obeyed."""
