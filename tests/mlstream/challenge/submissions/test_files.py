"""Files of contestants: the same probabilities from every format and order, and one line for what is wrong."""

import csv
import gzip
import io
import re
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from mlstream.challenge.errors import InvalidSubmission
from mlstream.challenge.submissions.files import read_submission
from mlstream.challenge.submissions.rows import SubmissionLayout
from mlstream.challenge.truth import format_keys
from mlstream.streams.tables.table import to_number
from tests.loops import check_all
from tests.mlstream.challenge.sample_files import WRITERS, as_csv, as_npz, as_parquet, make_layout, make_prob

LAYOUT = make_layout()
PROB = make_prob(LAYOUT)
PLAIN = as_csv(LAYOUT, PROB).decode()


def read(content, name="a.csv", layout=LAYOUT):
    return read_submission(content if isinstance(content, bytes) else content.encode(), layout, name)


@pytest.mark.parametrize("kind", WRITERS)
@given(order=st.permutations(range(7)), n_labels=st.integers(1, 3), seed=st.integers(0, 2**32 - 1))
def test_every_format_and_order_of_rows_gives_the_same_probabilities(kind, order, n_labels, seed):
    layout = make_layout(n_labels=n_labels, seed=seed)
    prob = make_prob(layout, seed)
    np.testing.assert_array_equal(read(WRITERS[kind](layout, prob, order), layout=layout), prob)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text + ",,\n , , \n",
        lambda text: "\ufeff" + text,
        lambda text: text.replace(",", ", "),
        lambda text: text.replace(",", " ; "),
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "\t"),
        lambda text: text.replace(",", "|"),
        lambda text: "sep=;\n" + text.replace(",", ";"),
        lambda text: "sep=,\r\n" + text,
        lambda text: "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.split("\n")[:-1]),
        lambda text: text.replace("label 0", '"label 0"'),
        lambda text: "\n".join(",".join(line.split(",")[place] for place in (2, 0, 1)) for line in text.split()),
    ],
    ids=[
        *(
            "windows",
            "old mac",
            "no last newline",
            "blank lines",
            "empty rows",
            "byte order mark",
            "blanks after commas",
        ),
        *("blanks around semicolons", "semicolons", "tabs", "bars", "stated semicolon", "stated comma", "quotes"),
        *("quoted name", "other order of columns"),
    ],
)
def test_other_ways_to_write_csv_are_read_too(change):
    text = change(PLAIN.replace("label ", "label_")).replace("label_", "label ")
    np.testing.assert_array_equal(read(text), PROB)


# Cells as people and programs write them, and some bytes at random.
CELLS = st.sampled_from(
    [
        "0.5",
        "1",
        ".25",
        "+1e-3",
        "1.",
        " 0.125",
        "0.5 ",
        '"0.5"',
        '"0."5',
        "0,5",
        '"0,5"',
        "",
        '""',
        "nan",
        "-0",
        "1_0",
        "x",
    ]
) | st.text(alphabet='0123456789.,;eE+- \n\r"', max_size=5)


@given(st.lists(CELLS, min_size=4, max_size=4), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
def test_rows_are_read_as_by_pythons_csv_module_or_refused(cells, separator, end):
    layout = make_layout(n_rows=2, n_labels=2)
    ids = format_keys(layout.keys)
    lines = ["row_id", "label 0", "label 1"], [ids[0], *cells[:2]], [ids[1], *cells[2:]]
    text = end.join(separator.join(line) for line in lines)
    every = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row][1:]
    rows = [row for row in every if "".join(row).strip()]
    try:
        prob = read(text, layout=layout)
    except InvalidSubmission as error:
        assert re.match(r"a\.csv, (line \d+|after its last line): ", str(error))  # noqa: PT017 - either outcome is right
        is_whole = set(map(len, every)) == {3} and [row[0] for row in rows] == ids and text.count('"') % 2 == 0
        numbers = [to_number(cell) for row in rows for cell in row[1:]]
        assert not is_whole or not all(number is not None and 0 <= number <= 1 for number in numbers)
    else:
        assert [row[0].strip() for row in rows] == ids
        np.testing.assert_array_equal(prob, [[float(cell) for cell in row[1:]] for row in rows])


def test_names_with_commas_and_of_formulas_are_found_guarded_or_not():
    layout = SubmissionLayout(LAYOUT.keys, ("a,b", "=c"), 10**6)
    body = PLAIN.partition("\n")[2]
    for head in ('row_id,"a,b",=c', 'row_id,"a,b",\'=c'):
        np.testing.assert_array_equal(read(f"{head}\n{body}", layout=layout), PROB)


def edit(line, old, new):
    lines = PLAIN.split("\n")
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return "\n".join(lines)


ID, OTHER = format_keys(LAYOUT.keys[[2, 3]])
CELL = repr(float(PROB[2, 1]))


def test_what_is_wrong_is_named_with_file_and_line():
    def check(case):
        content, message = case
        with pytest.raises(InvalidSubmission) as caught:
            read(content)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    check_all(
        [
            (edit(4, CELL, "1.5"), "a.csv, line 4: the probability of 'label 1' must be in [0, 1]. Got 1.5 instead."),
            (edit(4, CELL, "-0.1"), "a.csv, line 4: the probability of 'label 1' must be in [0, 1]. Got -0.1 instead."),
            (edit(4, CELL, "nan"), "a.csv, line 4: the probability of 'label 1' must be a number in [0, 1]. Got 'nan'"),
            (edit(4, CELL, "inf"), "a.csv, line 4: the probability of 'label 1' must be a number in [0, 1]. Got 'inf'"),
            (edit(4, CELL, ""), "a.csv, line 4: the probability of 'label 1' must be a number in [0, 1]. Got ''"),
            (edit(4, CELL, "1_0"), "a.csv, line 4: the probability of 'label 1' must be a number in [0, 1]. Got '1_0'"),
            (edit(4, CELL, "1-1"), "a.csv, line 4: the probability of 'label 1' must be a number in [0, 1]. Got '1-1'"),
            (
                edit(4, CELL, "0.1,0.2"),
                "a.csv, line 4: a row must hold 3 values. Got 4; cells are separated by commas.",
            ),
            (edit(4, "," + CELL, ""), "a.csv, line 4: a row must hold 3 values. Got 2;"),
            (edit(4, ID, ID.upper()), "a.csv, line 4: row_id must be 16 hexadecimal digits in lower case."),
            (edit(4, ID, ID[1:]), "a.csv, line 4: row_id must be 16 hexadecimal digits in lower case."),
            (
                edit(4, ID, "0" * 16),
                f"a.csv, line 4: row_id must be one of holdout.csv of this challenge. Got {'0' * 16} instead.",
            ),
            (edit(4, ID, OTHER), f"a.csv, line 5: each row_id must be there once. Got {OTHER} a second time."),
            (PLAIN.replace(ID, "x", 1), "a.csv, line 4: row_id must be 16"),
            (PLAIN + PLAIN.split("\n")[1], "a.csv, line 9: each row_id must be there once."),
            ("\n".join(PLAIN.split("\n")[:5]), "all 7 rows of the holdout must be there. Got 3 missing, the first of"),
            ("", "a.csv, line 1: a CSV file must start with the names of its columns. Got an empty file."),
            (PLAIN.split("\n")[0], "all 7 rows of the holdout must be there. Got 7 missing"),
            (
                edit(1, "label 1", "label 2"),
                "a.csv, line 1: the columns must be row_id and the 2 scored labels. "
                "Got 'label 2'; cells are separated by commas.",
            ),
            (
                edit(1, ",label 1", ""),
                "a.csv, line 1: the columns must be row_id and the 2 scored labels. Got no 'label 1';",
            ),
            (edit(1, "label 1", "label 0"), "all different. Got 'label 0' twice."),
            (PLAIN.encode("utf-16-le"), "a.csv, line 1: text must be UTF-8 or Windows-1252. Got zero bytes, as of"),
            (edit(4, CELL, '"0.5'), "a.csv, line 4: a quote must be closed. Got the end of the file;"),
            (edit(4, CELL, '"0,5"'), "Got '0,5' instead; write a decimal point instead of the comma."),
            (
                edit(1, "label 1", "label 2").replace(",", ";"),
                "a.csv, line 1: the columns must be row_id and the 2 scored labels. "
                "Got 'label 2'; cells are separated by semicolons.",
            ),
            (
                edit(4, CELL, "0;5").replace(",", ";").replace("0;5", "0,5"),
                "a.csv, line 4: the probability of 'label 1' must be a number in [0, 1]. "
                "Got '0,5' instead; write a decimal point instead of the comma.",
            ),
            (
                PLAIN.replace(",", ";").replace("row_id;label 0;label 1", "row_id,label 0,label 1"),
                "a.csv, line 2: a row must hold 3 values. Got 1; cells are separated by commas.",
            ),
            (edit(5, OTHER, ""), "a.csv, line 5: row_id must be 16 hexadecimal digits in lower case. Got '' instead."),
            # Two numbers in one cell must not make up for a blank one.
            (
                edit(4, f"{PROB[2, 0]!r},{CELL}".replace("np.float64(", "").replace(")", ""), "0.1 0.2, "),
                "a.csv, line 4: the probability of 'label 0' must be a number in [0, 1]. Got '0.1 0.2' instead.",
            ),
            (gzip.compress(PLAIN.encode())[:-9], "a.csv must be a whole gzip file. Got a damaged one."),
            (b"PK\x03\x04", "a.csv must be a whole NPZ file. Got a damaged one."),
            (b"PAR1", "a.csv must be a whole Parquet file. Got a damaged one."),
        ],
        check,
    )


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


IDS = np.array(format_keys(LAYOUT.keys))


def require_message(case):
    """Require that a file is refused with a message that holds these words."""
    content, message = case
    with pytest.raises(InvalidSubmission) as caught:
        read(content, "a")
    assert message in str(caught.value)


def test_what_is_wrong_in_an_npz_file_is_named():
    check_all(
        [
            (npz(row_id=IDS), "must hold the arrays row_id and prob, nothing else. Got 'row_id'."),
            (npz(row_id=IDS, prob=PROB, more=PROB), "must hold the arrays row_id and prob, nothing else."),
            (npz(row_id=IDS[1:], prob=PROB), "prob must have a row for each of 6 ids. Got 7."),
            (npz(row_id=IDS[1:], prob=PROB[1:]), "all 7 rows of the holdout must be there. Got 1 missing, the first"),
            (npz(row_id=np.r_[IDS, IDS], prob=PROB), "row_id must have the shape (7,). Got (14,) instead."),
            (npz(row_id=IDS, prob=PROB[:, :1]), "prob must have the shape (7, 2). Got (7, 1) instead."),
            (npz(row_id=IDS, prob=PROB[:, 0]), "prob must have the shape (7, 2). Got (7,) instead."),
            (npz(row_id=IDS, prob=(PROB > 0.5).astype(int)), "prob must hold floating-point numbers. Got int64."),
            (npz(row_id=LAYOUT.keys.astype(np.int64), prob=PROB), "or numbers of type uint64. Got int64."),
            (npz(row_id=np.char.upper(IDS), prob=PROB), "row_id must be 16 hexadecimal digits in lower case."),
            (npz(row_id=np.array(list(IDS), object), prob=PROB), "row_id must be an array of numbers or texts."),
            (
                npz(row_id=IDS[::-1], prob=np.where(PROB.max() - 1e-9 < PROB, np.nan, PROB)),
                "must be in [0, 1]. Got nan instead",
            ),
            (npz(row_id=np.r_[IDS[:6], IDS[:1]], prob=PROB), "a, row 7: each row_id must be there once."),
        ],
        require_message,
    )


@pytest.mark.parametrize("kind", [b"'<f3'", b"'<i0'"])
def test_an_array_of_a_type_that_numpy_does_not_have_is_no_submission(kind):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(npz(row_id=IDS, prob=PROB))) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"'<f8'", kind))
    packed = file.getvalue()
    with pytest.raises(InvalidSubmission):
        read(packed, "a")


def test_a_pickle_in_an_npz_file_is_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (tmp_path.joinpath("sprung").touch, ())

    with pytest.raises(InvalidSubmission, match="must be an array of numbers or texts"):
        read(npz(row_id=np.array([Trap()] * 7, object), prob=PROB))
    assert not (tmp_path / "sprung").exists()


def table(**columns):
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


COLUMNS = {"row_id": IDS.tolist(), "label 0": PROB[:, 0], "label 1": PROB[:, 1]}


def test_what_is_wrong_in_a_parquet_file_is_named():
    check_all(
        [
            (
                table(**{**COLUMNS, "label 2": PROB[:, 0]}),
                "the columns must be row_id and the 2 scored labels. Got 'label 2'.",
            ),
            (table(**{"label 0": PROB[:, 0]}), "the columns must be row_id and the 2 scored labels. Got no 'row_id'."),
            (table(row_id=IDS.tolist()), "the columns must be row_id and the 2 scored labels. Got no 'label 0'."),
            (
                table(**{name: values[1:] for name, values in COLUMNS.items()}),
                "the holdout must be there. Got 1",
            ),
            (table(**{name: [*values, *values] for name, values in COLUMNS.items()}), "must have 7 rows. Got 14."),
            (table(**{**COLUMNS, "label 1": ["x"] * 7}), "'label 1' must hold floating-point numbers. Got string."),
            (table(**{**COLUMNS, "label 1": [None, *[0.5] * 6]}), "a, row 1: the probability of 'label 1' must be in"),
            (table(**{**COLUMNS, "row_id": [None, *IDS[1:]]}), "row_id must hold texts of 16 digits"),
            (table(**{**COLUMNS, "row_id": [*IDS[:6], "x"]}), "a, row 7: row_id must be 16 hexadecimal digits"),
            (table(**{**COLUMNS, "row_id": [1.0] * 7}), "row_id must hold texts of 16 digits"),
        ],
        require_message,
    )


@pytest.mark.slow
def test_a_parquet_file_with_any_byte_changed_is_refused_or_read():
    content = table(**COLUMNS)
    for place in range(len(content)):
        for change in (1, 7, 128):
            damaged = bytearray(content)
            damaged[place] ^= change
            with suppress(InvalidSubmission):
                assert read(bytes(damaged)).shape == PROB.shape


def test_parquet_takes_ids_as_numbers_and_columns_in_any_order():
    content = table(**{"label 1": PROB[:, 1], "row_id": LAYOUT.keys, "label 0": PROB[:, 0].astype(np.float32)})
    np.testing.assert_allclose(read(content), PROB, rtol=1e-6)


def bombs():
    zeros = gzip.compress(bytes(60_000_000), 1)
    member = io.BytesIO()
    np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (7_500_000,)})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("row_id.npy", member.getvalue() + bytes(60_000_000))
        archive.writestr("prob.npy", member.getvalue() + bytes(60_000_000))
    # The archive says that its member is small.
    lying = as_npz(LAYOUT, PROB, save=np.savez_compressed)
    good = zipfile.ZipFile(io.BytesIO(lying))
    with zipfile.ZipFile(longer := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("row_id.npy", good.read("row_id.npy"))
        archive.writestr("prob.npy", good.read("prob.npy") + bytes(60_000_000))
    text = table(**{**COLUMNS, "row_id": ["x" * 20_000_000] * 7})
    return {"gzip": zeros, "zip": file.getvalue(), "longer member": longer.getvalue(), "parquet": text}


@pytest.mark.slow
def test_files_that_unpack_to_too_much_are_refused_before_memory_is_taken():
    for kind, content in bombs().items():
        tracemalloc.start()
        with pytest.raises(InvalidSubmission):
            read(content)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < len(content) + 15_000_000, kind


def test_a_file_above_the_size_of_the_rules_is_refused():
    layout = make_layout(max_bytes=100)
    with pytest.raises(InvalidSubmission, match=r"a\.csv must be of 100 bytes at most. Got \d+\."):
        read(PLAIN, layout=layout)


def test_paths_and_control_characters_in_names_are_harmless():
    for name in ("../../etc/passwd", "C:\\x\\passwd", "/etc/passwd"):
        with pytest.raises(InvalidSubmission, match=r"^passwd, line 1: "):
            read("", name)
    with pytest.raises(InvalidSubmission, match=r"^a\?\[31mb, line 1: "):
        read("", "a\x1b[31mb")
    with pytest.raises(InvalidSubmission, match=r"^submission, line 1: "):
        read("", "..")


@pytest.mark.parametrize("kind", WRITERS)
@given(
    edits=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4),
    cut=st.floats(0, 1),
)
def test_damaged_bytes_are_refused_or_read_as_probabilities(kind, edits, cut):
    content = bytearray(WRITERS[kind](LAYOUT, PROB))
    for place, value in edits:
        content[int(place * len(content))] = value
    whole = bytes(content)
    for damaged in (whole, whole[: int(cut * len(whole))]):
        try:
            prob = read(damaged)
        except InvalidSubmission as error:
            assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
        else:
            assert prob.shape == PROB.shape
            assert ((prob >= 0) & (prob <= 1)).all()


def test_parquet_is_written_as_others_write_it():
    assert as_parquet(LAYOUT, PROB).startswith(b"PAR1")
