"""Licences that data are published under, by their SPDX identifiers, and what people write instead of these."""

from __future__ import annotations

import re
from difflib import get_close_matches

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

# Of the SPDX list, those that hubs of data sets offer, each with its name there: lower case, unless noted.
_IDENTIFIERS = (
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "C-UDA-1.0",
    "CC-BY-2.0",
    "CC-BY-2.5",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-NC-2.0",
    "CC-BY-NC-3.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-ND-3.0",
    "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-2.0",
    "CC-BY-NC-SA-3.0",
    "CC-BY-NC-SA-4.0",
    "CC-BY-ND-4.0",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0",
    "CDLA-Sharing-1.0",
    "etalab-2.0",
    "EUPL-1.2",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "ISC",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MIT",
    "MPL-2.0",
    "ODbL-1.0",
    "ODC-By-1.0",
    "PDDL-1.0",
    "Unlicense",
)
_AT_HUBS = {"C-UDA-1.0": "c-uda", "ODbL-1.0": "odbl", "ODC-By-1.0": "odc-by", "PDDL-1.0": "pddl"}
_GNU = re.compile(r"-(only|or-later)$")
_BY_TEXT = {identifier.lower(): identifier for identifier in _IDENTIFIERS} | {"cc0": "CC0-1.0"}
# A remark in brackets changes no identifier.
_REMARK = re.compile(r"\s*\(.*\)$", re.DOTALL)
# What stands for the parts of an identifier in the names of licences, longest first.
_WORDS = {
    "creativecommons": "cc",
    "attribution": "by",
    "noncommercial": "nc",
    "noderivatives": "nd",
    "sharealike": "sa",
    "international": "",
    "version": "",
    "license": "",
    "licence": "",
    "zero": "0",
}
_LETTERS = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 60
_LEAST_ALIKE = 0.8


def spdx_identifier(licence: str) -> str | None:
    """Return the SPDX identifier of a licence as stated; None if it is not one of those that are known here."""
    return _BY_TEXT.get(re.sub(r"[\s_]+", "-", _REMARK.sub("", licence.strip()).lower()))


def is_spdx_expression(licence: str) -> bool:
    """Return whether a text is an identifier of the whole SPDX list, or several joined by AND, OR and WITH.

    >>> is_spdx_expression("Artistic-2.0"), is_spdx_expression("MIT OR Apache-2.0"), is_spdx_expression("nope")
    (True, True, False)
    """
    try:
        return bool(canonicalize_license_expression(licence))
    except InvalidLicenseExpression:
        return False


def _is_current(licence: str) -> bool:
    # SPDX has withdrawn the identifiers of GNU that leave open whether a later version will do.
    return is_spdx_expression(licence) and not is_spdx_expression(f"{licence.strip()}-only")


def nearest_identifier(licence: str) -> str | None:
    """Return the SPDX identifier that a text seems to mean; None if it is one, or seems to mean none."""
    if spdx_identifier(licence) or len(licence) > _LONGEST_NAME or _is_current(licence):
        return None
    typed = _squeeze(licence)
    by_letters = {_squeeze(identifier): identifier for identifier in _IDENTIFIERS}
    # The start of several names: the newest version of the plainest licence.
    longer = [name for name in by_letters if len(typed) > 2 and name.startswith(typed)]
    if longer:
        return by_letters[max(longer, key=lambda name: (-len(name), name))]
    near = get_close_matches(typed, by_letters, n=1, cutoff=_LEAST_ALIKE)
    return by_letters[near[0]] if near else None


def hub_licence(licence: str) -> str:
    """Return the name of a licence at hubs: "unknown" if no licence is stated, "other" if it has no name there."""
    identifier = spdx_identifier(licence)
    if identifier is None:
        return "other" if licence.strip() else "unknown"
    return _AT_HUBS.get(identifier, _GNU.sub("", identifier).lower())


def licence_page(identifier: str) -> str:
    """Return the address of the text of a licence."""
    return f"https://spdx.org/licenses/{identifier}.html"


def _squeeze(text: str) -> str:
    """Leave letters and digits, of names of licences those of their identifiers."""
    letters = _LETTERS.sub("", text.lower())
    for word, short in _WORDS.items():
        letters = letters.replace(word, short)
    return letters
