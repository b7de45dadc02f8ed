"""What a fuzzer starts from: small good files of every format."""

import bz2
import gzip
import lzma
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np

from mlstream.formats.mulan import format_labels
from mlstream.formats.npz import save_npz
from tests.mlstream.formats.arff.test_reader import DIALECTS
from tests.mlstream.streams import Shape, make_stream


def seeds(name: str) -> list[bytes]:
    """Make the seeds of a target."""
    return _MAKERS[name]()


def _npz() -> list[bytes]:
    contents, path = [], Path(tempfile.mkdtemp()) / "x.npz"
    for shape in (Shape(), Shape(sparse=True), Shape(by_row=True), Shape(unknown=0.3)):
        save_npz(make_stream(shape), path)
        contents.append(path.read_bytes())
    return contents


def _parquet() -> list[bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    contents = []
    for labels in ([0, 1, 0], [0, None, 1]):
        sink = BytesIO()
        parquet.write_table(pa.table({"a": np.arange(3.0), "y": labels}), sink)
        contents.append(sink.getvalue())
    return contents


_MAKERS: dict[str, Callable[[], list[bytes]]] = {
    "arff": lambda: [text.encode() for text, _ in DIALECTS.values()],
    "csv": lambda: [
        b"a,y\n1,0\n2.5e3,1\n",
        b'"a,b","c""d"\r\n1,0\r\n',
        b"a,y\n1,\n2,0\n",
        b";a;c\r\n0;1,5;red\r\n",
        b"a\tc\n1.5\tTrue\nNA\tfalse\n",
        b",c,b\n0,red,yes\n1,blue,no\n",
    ],
    "keel": lambda: [
        b"@relation r\n@attribute a real [0, 1]\n@attribute c{u, v}\n@inputs a\n@outputs c\n@data\n1, u\n?, <null>\n",
        b"@relation r\n@attribute a integer [0, 9]\n@attribute y {0,1}\n@attribute z {0,1}\n@output y, z\n@data\n1,0,1",
    ],
    "libsvm": lambda: [b"1,3 1:0.5 4:-2e3\n 2:1\n"],
    "parquet": _parquet,
    "xml": lambda: [format_labels("abc", {"c": "a"}).encode()],
    "npz": _npz,
    "packed": lambda: [pack(b"some text " * 9) for pack in (gzip.compress, bz2.compress, lzma.compress)],
    "card": lambda: [make_stream().card.model_dump_json().encode()],
}
