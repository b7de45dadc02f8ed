"""Text in CSV files that no spreadsheet takes for a formula."""

from __future__ import annotations

import re

# What a formula begins with, in Excel, LibreOffice or Google Sheets; the wide signs are those of East Asian keyboards.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def guard_text(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula, as OWASP recommends.

    Numbers stay numbers. Text that begins with apostrophes and then like a formula gets one more, so that
    `unguard_text` gives back every text as it was.

    >>> guard_text("=HYPERLINK(...)"), guard_text("-0.5"), guard_text("a=b"), guard_text("'=1")
    ("'=HYPERLINK(...)", '-0.5', 'a=b', "''=1")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def table_text(text: str) -> str:
    """Guard text for a table that is only looked at; a carriage return, which csv does not quote, is a blank.

    >>> table_text("=a" + chr(13) + "b")
    "'=a b"
    """
    return guard_text(text.replace("\r", " "))


def unguard_text(text: str) -> str:
    """Undo `guard_text`.

    >>> unguard_text("'=HYPERLINK(...)"), unguard_text("'quoted'")
    ('=HYPERLINK(...)', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
