"""What errors of tables advise is followed, word for word, until the table is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mlstream import load_dataset
from mlstream._support.content import FormatError
from tests.loops import check_all

NAME = re.compile(r"""(?:column|label) ('(?:[^'\\]|\\.)*'|"[^"]*")""")
# What an option is set to, if an error names it; options come in this order where it names several.
ADVICE: dict[str, Any] = {
    "labels must be given": ("labels", -1),
    "classes= or --classes": ("classes", True),
    "missing= or --missing ": ("missing", "keep"),
    "dates= or --dates": ("dates", "parts"),
    "categories= or --categories": ("categories", "one-hot"),
    "missing_words= or --missing-words": ("missing_words", ["-", "NA"]),
    "separator= or --separator": ("separator", ";"),
    "ignore=[''] or --ignore ''": ("ignore", [""]),
    "header=False or --header no": ("header", False),
    "format= or --format": ("format", "csv"),
    "decimal=',' or --decimal comma": ("decimal", ","),
    "date_format= or --date-format says": ("date_format", "%d/%m/%Y"),
}
ARFF = "@relation r\n@attribute t {0}\n@attribute a numeric\n@attribute y {{0,1}}\n@data\n{1},1,0\n{1},2,1\n"
NUMBERS = "".join(f"{row},{row % 2}\n" for row in range(30))
TABLES = {
    "words.csv": "a,b,y\nred,1,0\nblue,2,1\n",
    "dates.csv": "when,a,y\n2024-01-31,1,0\n2024-02-01,2,1\n",
    "foreign dates.csv": "when,a,y\n31/01/2024,1,0\n01/02/2024,2,1\n",
    "gaps.csv": "a,b,y\n,1,0\n2,3,1\n",
    "keys.csv": "id,a,y\n" + "".join(f"row {row},{row / 7},{row % 2}\n" for row in range(30)),
    "numbers of 17 digits.csv": "id,a,y\n12345678901234567,1,0\n12345678901234568,2,1\n",
    "a sign for missing.csv": f"a,y\n-,0\n{NUMBERS}",
    "quoted missing words.csv": f'a,y\n"NA",0\n{NUMBERS}',
    "decimal commas.csv": "a;b;y\n1,5;2;0\n2,5;3;1\n",
    "two separators.csv": "a,b;c;y\n1;2;0\n3;4;1\n",
    "nameless.csv": "a,,y\n1,2,0\n3,4,1\n",
    "nameless at the end.csv": "a,y,\n1,0,7\n2,1,8\n",
    "no names.csv": "1,5,5,0\n2,6,7,1\n",
    "classes.csv": "a,y\n1,A\n2,B\n3,C\n",
    "percent.txt": "a,y\n1,0\n2,1\n",
    "text.arff": ARFF.format("string", "'free text'"),
    "date.arff": ARFF.format("date 'yyyy-MM-dd'", "2024-01-31"),
    "month.arff": ARFF.format("date 'MMM'", "Jan"),
    "relation.arff": ARFF.format("relational\n@attribute b numeric\n@end t", "'1\\n2'"),
    "classes.arff": ARFF.format("numeric", "1").replace("{0,1}", "{u,v}").replace(",0\n", ",u\n").replace("2,1", "2,v"),
    "text.dat": ARFF.format("string", "free text"),
}


def follow(folder: Path, name: str, text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the options with which a table was read in the end, and the errors before."""
    path, options, errors = folder / name, dict[str, Any](), list[str]()
    path.write_text(text, encoding="utf-8")
    while len(errors) < 9:
        try:
            load_dataset(path, **options)
        except FormatError as error:
            errors.append(str(error))
            _obey(str(error), options)
        else:
            return options, errors
    raise AssertionError(errors)


def _obey(error: str, options: dict[str, Any]) -> None:
    for words, (option, value) in ADVICE.items():
        if words in error and option not in options:
            options[option] = value
            return
    column = NAME.search(error)
    assert column, error
    assert "ignore= or --ignore leaves the column out" in error, error
    options["ignore"] = [*options.get("ignore", []), column[1][1:-1]]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_whoever_follows_the_errors_arrives(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        _, errors = follow(tmp_path, *case)
        assert errors, "nothing was wrong"
        assert len(set(errors)) == len(errors)

    check_all(TABLES.items(), check)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_column_that_is_refused_can_be_left_out(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        name, text = case
        options, errors = follow(tmp_path, name, text)
        refused = {column[1][1:-1] for column in map(NAME.search, errors) if column}
        if refused and not any("label" in error for error in errors[:1]):
            kept = {option: value for option, value in options.items() if option in {"labels", "separator", "format"}}
            table = load_dataset(tmp_path / name, **kept, ignore=sorted(refused))
            assert not refused & {feature.partition("=")[0] for feature in table.feature_names}

    check_all(TABLES.items(), check)
