# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Text from files, programs and the network in a form that cannot steer a terminal or hide itself in a page."""


def visible(text: str, keep: str = "") -> str:
    """Return the text with an escape for each invisible character: controls, text directions, lone surrogates.

    Characters of `keep` stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in keep else repr(each)[1:-1] for each in text)
