"""What a table was read with is on the page in plain sentences."""

import pytest

from mlstream.cards.page import card_page
from mlstream.cards.reading import describe_reading
from mlstream.streams.card_model import ReadingCard
from tests.loops import check_all
from tests.mlstream.small_streams import make_stream

SENTENCES = (
    ({"missing": "drop", "n_dropped": 3}, "Rows with a missing value of a feature were left out. Number of rows that"),
    ({"missing": "drop", "n_dropped": 3}, "were left out: 3."),
    ({"missing": "mean"}, "Missing values of features became the mean of their column."),
    ({"missing": "indicator"}, "the mean of their column, and 0/1 features mark them."),
    ({"missing": "keep"}, "Missing values of features stay NaN."),
    ({"categories": "one-hot"}, "Columns of words became 0/1 features, one per value."),
    (
        {"categories": "ordinal"},
        "Words and other declared values became their number, from 0; their mean is the most frequent one.",
    ),
    ({"separator": ";"}, "Cells of the file are separated by <;>."),
    ({"ignore": ["id", ""]}, "Columns that were left out: <id>, those without a name."),
    ({"keys": ["host", "start"]}, "Columns that are the keys of rows: <host>, <start>."),
    ({"dates": "epoch"}, "Dates became seconds since 1970."),
    ({"dates": "parts"}, "Dates became features for year, month, day, weekday, hour, minute and second."),
    ({"decimal": ","}, "Numbers have <,> before their decimals."),
    ({"date_format": "%d.%m.%Y"}, "Dates are written as <%d.%m.%Y>."),
    ({"time": "when"}, "The times of the rows are in the column <when>."),
    ({"header": False}, "The file has no names of columns, which are called x0, x1 and so on."),
    ({"present": "x"}, "A label is present where its column holds <x>."),
    ({"classes": True}, "Each value of a label column is a label of its own."),
    ({"tags": "t", "tag_separator": "|"}, "listed in the column <t>. The labels in that column are separated by <|>."),
    ({"missing_words": ["none", "-"]}, "Words for a missing value, beside an empty cell: <none>, <->."),
    ({"missing_words": []}, "Words for a missing value, beside an empty cell: none."),
    ({"n_features": 5}, "The file was read with 5 features."),
    ({"format": "csv"}, "The file was read as <csv>."),
)


def test_every_option_has_its_sentence():
    def check(case):
        options, sentence = case
        assert sentence in " ".join(describe_reading(ReadingCard(**options), "<{}>".format))

    check_all(SENTENCES, check)
    assert {name for options, _ in SENTENCES for name in options} == ReadingCard.model_fields.keys()


@pytest.mark.parametrize("name", ["id", "a`b|c<d"])
def test_the_page_quotes_names(name):
    card = make_stream().card
    source = card.source.model_copy(update={"reading": ReadingCard(ignore=[name, "when"], dates="epoch")})
    page = card_page(card.model_copy(update={"source": source}))
    quoted = "`id`" if name == "id" else "`` a`b|c<d ``"
    line = f"- How it was read: Columns that were left out: {quoted}, `when`. Dates became seconds since 1970."
    assert line in page.splitlines()
