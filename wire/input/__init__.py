# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What every part needs to take settings and files of people without harm. Knows no setting and no file by name."""
