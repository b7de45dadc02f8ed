"""Mutations of XML: tags, and the names and attributes within them."""

import re
from random import Random

from tests.fuzz.mutators.pieces import draw_from, mutate_pieces, some

_TAGS = (
    b'<label name="z">', b"</label>", b'<label name="z"></label>', b'<label name=""/>', b"<label/>", b"</labels>",
    b"<labels>", b'<labels xmlns="x">', b"<!-- c -->", b"<!---->", b"<![CDATA[x]]>", b"<?pi x?>", b"text", b"&amp;",
    b"&#0;", b"&#65;", b"&x;", b"<!DOCTYPE labels>", b'<!DOCTYPE a [<!ENTITY x "y">]>', b'<?xml version="1.0"?>',
    b'<?xml version="1.0" encoding="latin-1"?>', b'<?xml version="1.0" encoding="utf-16"?>',
    b'<?xml version="1.0" encoding="shift_jis"?>', b'<?xml version="1.1"?>', b"\xef\xbb\xbf", b"\x00", b"\xff", b"]]>",
    b'<label name="' + b"a" * 300 + b'">', b"<label>" * 60, b'<label name="deep">' * 60,
)  # fmt: skip
_WORDS = (
    b"label", b"labels", b"name", b'"', b"'", b"=", b" ", b">", b"<", b"/", b"xmlns", b"a:b", b"&lt;", b"&#10;",
    b"&#x0;",
    b"\xc3\xa9", b"\xe9", b"a", b"", b"\n",
)  # fmt: skip
_PIECES = re.compile(rb"<[^>]*>|[^<]+|<")
_PARTS = re.compile(rb"([\s=\"'<>/:]+)")


def mutate_xml(content: bytes, rng: Random) -> bytes:
    """Change tags, or the parts of a tag."""
    pieces = _PIECES.findall(content)

    def change() -> None:
        if rng.random() < 0.6 or not pieces:
            mutate_pieces(pieces, rng, draw_from(_TAGS))
            return
        place = rng.randrange(len(pieces))
        parts = _PARTS.split(pieces[place])
        mutate_pieces(parts, rng, draw_from(_WORDS))
        pieces[place] = b"".join(parts)

    some(rng, change)
    return b"".join(pieces)
