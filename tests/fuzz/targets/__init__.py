# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The fuzz targets, one module each: the inputs, and the requirements for each input."""
