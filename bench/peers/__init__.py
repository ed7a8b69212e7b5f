# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Other simulators, as contestants where they are installed. No code of theirs is here."""
