"""Files that are not tables, told by their first bytes, so that errors can say what was found and what to do."""

from __future__ import annotations

import re

_MOST_BYTES = 2**12
_UNPACK = "unpack it first"
_EXPORT = "save or export the table as CSV"
_SAVE = "save the sheet as CSV in UTF-8"
# Pattern of the first bytes, what it is, and what to do. Of zip archives, the name of the first member tells the kind.
_KINDS = [
    (re.compile(pattern, re.DOTALL), f"{what}; {way_out}")
    for pattern, what, way_out in (
        (rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|xl/)", "an Excel workbook", _SAVE),
        (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", "an OpenDocument file", _SAVE),
        (rb"PK\x03\x04.{26}[^\0]{1,99}?\.npy", "an NPZ file", "its name must end in .npz"),
        (rb"PK(?:\x03\x04|\x05\x06)", "a zip archive", _UNPACK),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", _SAVE),
        (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
        (rb"Rar!\x1a\x07", "a RAR archive", _UNPACK),
        (rb".{257}ustar[\0 ]", "a tar archive", _UNPACK),
        (rb"\x1f\x8b", "a gzip file", "unpack it first, or end its name in .gz"),
        (rb"BZh[1-9]1AY&SY", "a bzip2 file", _UNPACK),
        (rb"\xfd7zXZ\0", "an xz file", _UNPACK),
        (rb"\x28\xb5\x2f\xfd", "a Zstandard file", _UNPACK),
        (rb"\x89PNG\r\n|\xff\xd8\xff", "a picture", _EXPORT),
        (rb"%PDF-\d", "a PDF document", _EXPORT),
        (rb"\x80[\x02-\x05]", "a pickle", "write its table as CSV; pickles run code, and are never read"),
        (rb"\x93NUMPY", "an NPY file", "write its table as CSV"),
        (rb"\x89HDF\r\n", "an HDF5 file", _EXPORT),
        (rb"SQLite format 3\0", "an SQLite database", _EXPORT),
        (rb"PAR1\x15", "a Parquet file", "its name must end in .parquet"),
        (rb"ARROW1\0", "an Arrow file", "write it as Parquet or CSV"),
        (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it as CSV in UTF-8"),
        (rb"\s*<(?i:!doctype\s+html|html|head|body)\b", "an HTML page", "sign in, and download the file itself"),
        (rb"\s*<\?xml\b", "an XML file", _EXPORT),
        (rb'\s*(?:\[\s*)?\{\s*"[^"]*"\s*:|\s*\[\s*\[', "JSON", _EXPORT),
    )
]


def kind_by_content(start: bytes) -> str | None:
    """Return what a file is that begins so, and what to do about it; None if it may be a table of text.

    >>> kind_by_content(b"%PDF-1.7"), kind_by_content(b"a,b")
    ('a PDF document; save or export the table as CSV', None)
    """
    return next((text for pattern, text in _KINDS if pattern.match(start[:_MOST_BYTES])), None)
