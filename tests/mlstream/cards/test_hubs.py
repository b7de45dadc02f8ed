"""What hubs demand, by their own schemas and libraries, and the list of what each would refuse."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from mlstream.cards.archives import card_datacite, card_zenodo
from mlstream.cards.croissant import card_croissant
from mlstream.cards.hubs import list_croissant_errors, list_refusals
from mlstream.cards.terms import with_terms
from mlstream.formats import load
from mlstream.publishing.folder import publish, verify
from mlstream.streams.card_model import FileCard
from mlstream.streams.stream import Stream
from tests.mlstream.cli.commands import invoke
from tests.mlstream.small_streams import Shape, make_stream, streams

pytestmark = pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")

TERMS: dict[str, Any] = {
    "title": "Birds & <their> songs ü",
    "description": "Songs.\n\nAt dawn, <b>.",
    "licence": "CC-BY-4.0",
    "citation": "Us. 2026.",
    "creators": ["Lovelace, Ada", "José Ñ"],
    "homepage": "https://example.org/birds",
    "published": "2026-11-23",
}
SHAPES = [Shape(), Shape(sparse=True), Shape(label_names=("two words", "ü", "<b>"))]
# The fields that Zenodo's schema of legacy deposits has, among those that may be written, and their types.
ZENODO = {
    "access_right": str,
    "creators": list,
    "description": str,
    "keywords": list,
    "license": str,
    "notes": str,
    "publication_date": str,
    "references": list,
    "related_identifiers": list,
    "title": str,
    "upload_type": str,
}


def datacite_errors(text: str) -> set[str]:
    schema = pytest.importorskip("datacite.schema45", reason="the package datacite is not installed")
    return {
        word
        for error in schema.validator.iter_errors(json.loads(text))
        for word in (re.findall(r"'(\w+)' is a required", error.message) or [error.message])
    }


def require_zenodo(text: str) -> dict[str, Any]:
    fields = json.loads(text)
    assert {name: type(value) for name, value in fields.items()}.items() <= ZENODO.items()
    assert fields["upload_type"] == "dataset"
    assert fields["access_right"] == ("open" if "license" in fields else "closed")
    assert all(person.keys() == {"name"} for person in fields.get("creators", []))
    return fields


@pytest.mark.parametrize("shape", SHAPES, ids=["dense", "sparse", "odd names"])
def test_complete_terms_are_what_datacite_and_zenodo_demand(shape: Shape) -> None:
    card = with_terms(make_stream(shape), **TERMS).card
    assert datacite_errors(card_datacite(card)) == set()
    fields = require_zenodo(card_zenodo(card))
    assert fields["description"].startswith("<p>Songs.</p><p>At dawn, &lt;b&gt;.</p>")
    assert (fields["license"], fields["publication_date"]) == ("cc-by-4.0", "2026-11-23")
    assert list_refusals(card, ["datacite", "zenodo"]) == []


@given(streams())
def test_only_what_nobody_states_is_missing(stream: Stream) -> None:
    require_zenodo(card_zenodo(stream.card))
    assert datacite_errors(card_datacite(stream.card)) == {"creators", "publicationYear"}
    assert list_refusals(stream.card, ["datacite"]) == [
        "DataCite would refuse it: no creator (--creator), no date of publication (--published)."
    ]


def test_zenodo_is_given_no_licence_that_it_does_not_list() -> None:
    stream = make_stream()
    for licence in ("", "ask us", "C-UDA-1.0"):
        card = with_terms(stream, title="ab", licence=licence).card
        assert require_zenodo(card_zenodo(card))["access_right"] == "closed"
        assert list_refusals(card, ["zenodo"]) == [
            "Zenodo would refuse it: no creator (--creator), a title of fewer than 3 characters (--title), "
            "to be open without a licence that it lists (--licence)."
        ]


def test_openml_wants_rows_and_labels_that_it_can_name(tmp_path: Path) -> None:
    stream = with_terms(make_stream(Shape(label_names=("a b", "c"))), **TERMS)
    card = verify(publish(stream, tmp_path / "out", arff=False))
    assert list_refusals(card, ["openml"]) == [
        "OpenML would refuse it: no ARFF (--arff), names of labels as targets: letters, digits and _-.() only, 1,024 "
        "characters in all."
    ]
    assert list_refusals(verify(publish(with_terms(make_stream(), **TERMS), tmp_path / "more"))) == []


@pytest.mark.parametrize("shape", SHAPES, ids=["dense", "sparse", "odd names"])
def test_hugging_face_reads_the_page_and_finds_its_files(shape: Shape, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs the extra `hub`")
    folder = publish(with_terms(make_stream(shape), **TERMS), tmp_path / "out")
    data = hub.DatasetCard.load(folder / "README.md", ignore_metadata_errors=False).data
    assert isinstance(data, hub.DatasetCardData)
    assert (data.license, data.pretty_name, data.size_categories) == ("cc-by-4.0", TERMS["title"], ["n<1K"])
    paths = [file["path"] for configuration in data.configs for file in configuration["data_files"]]
    assert paths
    assert all((folder / path).is_file() for path in paths)
    assert list_refusals(verify(folder), ["huggingface"]) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Of rdflib, in mlcroissant.
def test_croissant_is_what_its_own_library_accepts(tmp_path: Path) -> None:
    pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    for number, shape in enumerate(SHAPES):
        card = verify(publish(with_terms(make_stream(shape), **TERMS), tmp_path / str(number)))
        assert list_refusals(card, ["croissant"]) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Of rdflib, in mlcroissant.
def test_what_croissant_refuses_is_listed_without_recommendations(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlcroissant", reason="needs the extra `croissant`")
    described = json.loads(card_croissant(make_stream().card))
    described["recordSet"] = [{"@type": "cr:RecordSet", "@id": "a", "field": [{"@id": "a/b", "@type": "cr:Field"}]}]
    monkeypatch.setattr("mlstream.cards.hubs.card_croissant", lambda _: json.dumps(described))
    field, kind = list_croissant_errors(make_stream().card)
    assert "Field a/b does not define `source` or `value`" in field
    assert "does not specify a valid" in kind


def test_croissant_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlcroissant", None)
    with pytest.raises(ImportError, match=r"module mlcroissant: pip install 'mlstream-toolkit\[croissant\]'\."):
        list_refusals(make_stream().card, ["croissant"])
    assert list_refusals(make_stream().card, ["datacite"])


def test_folders_without_parquet_show_no_rows_at_hugging_face(tmp_path: Path) -> None:
    card = verify(publish(with_terms(make_stream(), **TERMS), tmp_path / "out"))
    older = card.model_copy(update={"files": [file for file in card.files if not file.name.endswith(".parquet")]})
    assert list_refusals(older) == [
        "Hugging Face would refuse it: no Parquet, so that it shows and loads no rows (publish it again with --force)."
    ]


def test_an_archive_has_a_limit() -> None:
    card = with_terms(make_stream(), **TERMS).card
    large = card.model_copy(update={"files": [FileCard(name="stream.npz", n_bytes=51 * 10**9, sha256="0" * 64)]})
    assert list_refusals(large, ["zenodo"]) == ["Zenodo would refuse it: more than 50 GB."]


@pytest.mark.filterwarnings("ignore:The stream should state:UserWarning")
def test_verify_advises_unless_a_hub_is_named(tmp_path: Path) -> None:
    folder = publish(make_stream(), tmp_path / "out")
    result = invoke("verify", folder)
    assert result.exit_code == 0
    assert "Advice: DataCite would refuse it: no creator (--creator), no date" in result.output
    assert "OpenML" not in result.output
    assert invoke("verify", folder, "--for", "openml").exit_code == 0
    refused = invoke("verify", folder, "--for", "openml", "--for", "zenodo")
    assert refused.exit_code == 1
    assert "must be as its hub demands. Zenodo would refuse it: no creator" in str(refused.exception)
    unknown = invoke("verify", folder, "--for", "kaggle")
    assert "hub (--for) must be one of openml, datacite, zenodo, huggingface, croissant. Got 'kaggle'" in str(
        unknown.exception
    )
    publish(load(folder / "stream.npz"), folder, force=True, **TERMS)
    output = invoke("verify", folder).output
    assert output.startswith(f"{folder} is complete and unchanged.\nAdvice: The stream should state its data_biases, ")
    assert output.count("\n") == 2


@pytest.mark.parametrize("published", ["2026", "2026-02-30", "20261123", "today"])
def test_a_date_is_a_date(published: str) -> None:
    with pytest.raises(ValueError, match=rf"published must be a date, YYYY-MM-DD\. Got '{published}'"):
        with_terms(make_stream(), published=published)


def test_folders_of_older_versions_are_still_complete(tmp_path: Path) -> None:
    folder = publish(with_terms(make_stream(), **TERMS), tmp_path / "out")
    newer = ("datacite.json", ".zenodo.json")
    sums = (folder / "SHA256SUMS").read_text().splitlines(keepends=True)
    (folder / "datacite.json").unlink()
    with pytest.raises(ValueError, match=r"datacite\.json is missing"):
        verify(folder)
    (folder / ".zenodo.json").unlink()
    (folder / "SHA256SUMS").write_text("".join(line for line in sums if not line.strip().endswith(newer)))
    verify(folder)
