"""A card as Croissant 1.1: the JSON-LD that search engines and loaders of data sets read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from mlstream.cards.front_matter import PARQUET
from mlstream.cards.licences import licence_page, spdx_identifier
from mlstream.cards.limits import has_unknown_labels, known_limits
from mlstream.cards.row_columns import feature_columns, has_masks, key_columns, role_columns
from mlstream.cards.terms import StatedTerms, is_drawn, stated_terms
from mlstream.streams.card_model import AboutCard, CreatorCard, FileCard, StreamCard

Record: TypeAlias = dict[str, Any]
Columns: TypeAlias = list[tuple[str, Record]]

_ROWS = {"train": "Rows to learn from, in stream order", "test": "Rows held out, task after task"}
_CELLS = ". A label is 1 (present), 0 (absent) or null (unknown)."
_LISTS = ". Labels are the numbers of those present, indices those of the features stored, from 0."
_INTEGER: Record = {"dataType": "sc:Integer"}
_TEXT: Record = {"dataType": "sc:Text"}
_NUMBER: Record = {"dataType": "sc:Float"}
_LABEL: Record = {"dataType": ["sc:Integer", "cr:Label"]}
_LIST: Record = {"isArray": True, "arrayShape": "-1"}
_ROLES = {"experience": _INTEGER, "task": _TEXT, "row": _INTEGER, "mask": _INTEGER}
# By type, without the width of texts or numbers.
_KEYS: dict[str, Record] = {
    "U": _TEXT,
    "int": _INTEGER,
    "float": _NUMBER,
    "datetime64[us]": {"dataType": "sc:DateTime"},
}
# pandas, which mlcroissant reads Parquet with, adds a column of one of these names.
_ADDED = {"index", "level_0"}
_CROISSANT = (
    "arrayShape",
    "citeAs",
    "column",
    "containedIn",
    "equivalentProperty",
    "extract",
    "field",
    "fileObject",
    "fileProperty",
    "fileSet",
    "format",
    "includes",
    "isArray",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "separator",
    "source",
    "subField",
    "transform",
)
_CONTEXT: Record = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "prov": "http://www.w3.org/ns/prov#",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    **{word: f"cr:{word}" for word in _CROISSANT},
}
# By field of the card; a term that only conferences know, and neither specification, is among them.
_RESPONSIBLE = {
    "data_biases": "rai:dataBiases",
    "personal_sensitive_information": "rai:personalSensitiveInformation",
    "data_use_cases": "rai:dataUseCases",
    "data_social_impact": "rai:dataSocialImpact",
    "has_synthetic_data": "rai:hasSyntheticData",
}
# Loaders of Croissant know ARFF and Parquet by these names; other formats are registered media types.
_FORMATS = {
    ".arff": "https://ml.cms.waikato.ac.nz/weka/arff.html",
    ".npz": "application/zip",
    ".parquet": "application/x-parquet",
    ".xml": "application/xml",
}


def card_croissant(card: StreamCard) -> str:
    """Write a card, with its files, as Croissant 1.1.

    The JSON-LD holds the files with their hashes; a record set per Parquet file, with a field per column, or lists
    where the stream is sparse; the tasks and experiences as records of their own; known limits, sources, the generator,
    and what the authors state. A column without a name cannot be described: the rows of a dense stream that has one are
    files without records.

    Format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html, with provenance in the words of PROV-O.
    RAI 1.0: https://docs.mlcommons.org/croissant/docs/croissant-rai-spec.html.
    """
    terms = stated_terms(card)
    licence = spdx_identifier(terms.licence)
    limits = known_limits(card)
    dataset: Record = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": card.name,
        **({"alternateName": terms.title} if terms.title != card.name else {}),
        "description": terms.description,
        "license": licence_page(licence) if licence else terms.licence or "unknown",
        "citeAs": terms.citation or card.source.name,
        "creator": _describe_creators(card, terms),
        **({"url": terms.homepage} if terms.homepage else {}),
        **({"datePublished": terms.published} if terms.published else {}),
        "version": "1.0.0",
        "keywords": ["multi-label", "continual learning", "data stream", "tabular"],
        "isLiveDataset": False,
        **_describe_provenance(card),
        **_describe_responsibility(terms.about, is_synthetic=is_drawn(card)),
        **({"rai:dataLimitations": limits} if limits else {}),
        "distribution": [_describe_file(file) for file in card.files],
        "recordSet": [
            *list_rows(card),
            _list_tasks(card),
            _list_experiences(card),
        ],
    }
    return json.dumps(dataset, indent=1, ensure_ascii=False) + "\n"


def _describe_creators(card: StreamCard, terms: StatedTerms) -> list[Record]:
    if terms.people:
        return [_describe_creator(one) for one in terms.people]
    return [{"@type": "Organization", "name": f"{card.source.name}; made a stream by mlstream"}]


def _describe_creator(creator: CreatorCard) -> Record:
    affiliation = {"affiliation": {"@type": "Organization", "name": creator.affiliation}}
    return {
        "@type": "Person",
        "name": creator.name,
        **({"sameAs": f"https://orcid.org/{creator.orcid}"} if creator.orcid else {}),
        **(affiliation if creator.affiliation else {}),
    }


def _describe_responsibility(about: AboutCard, *, is_synthetic: bool) -> Record:
    """List what the authors state; whether the rows of a table were measured is for them to say."""
    stated = {term: getattr(about, name) for name, term in _RESPONSIBLE.items()}
    drawn = {"rai:hasSyntheticData": True} if is_synthetic else {}
    return {term: value for term, value in (stated | drawn).items() if value is not None}


def _describe_provenance(card: StreamCard) -> Record:
    """Describe what made the stream, and of what."""
    generator, source = card.generator, card.source
    parameters = json.dumps(generator.parameters, ensure_ascii=False)
    version = card.versions.get("mlstream", "(unknown)")
    made = f"mlstream {version}: {generator.name}, seed {generator.seed}, {parameters}"
    activity = {"prov:wasGeneratedBy": {"@type": "prov:Activity", "prov:label": made}}
    if is_drawn(card):
        return activity
    named = {"@id": f"urn:sha256:{source.sha256}"} if source.sha256 else {}
    table = {"@type": "prov:Entity", **named, "prov:label": f"{source.name} ({source.origin})"}
    return {"prov:wasDerivedFrom": table, **activity}


def _describe_file(file: FileCard) -> Record:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.n_bytes} B",
        "encodingFormat": _FORMATS.get(Path(file.name).suffix, "application/octet-stream"),
        "sha256": file.sha256,
    }


def _list_tasks(card: StreamCard) -> Record:
    fields = {"name": "sc:Text", "learn": "sc:Integer", "evaluate": "sc:Integer", "cardinality": "sc:Float"}
    rows = ((task.name, task.n_learning, task.n_evaluation, task.cardinality) for task in card.tasks)
    return _list_records("tasks", "The tasks: rows to learn from, rows held out, labels of a row.", fields, rows)


def _list_experiences(card: StreamCard) -> Record:
    fields = {"number": "sc:Integer", "tasks": "sc:Text", "rows": "sc:Integer"}
    rows = (
        (number, " + ".join(card.tasks[task].name for task in experience.tasks), experience.n_samples)
        for number, experience in enumerate(card.experiences, 1)
    )
    return _list_records("experiences", "The experiences, in stream order.", fields, rows)


def _list_records(name: str, description: str, fields: dict[str, str], rows: Iterable[tuple[object, ...]]) -> Record:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": description,
        "field": [
            {"@type": "cr:Field", "@id": f"{name}/{field}", "name": field, "dataType": data_type}
            for field, data_type in fields.items()
        ],
        "data": [{f"{name}/{field}": value for field, value in zip(fields, row, strict=True)} for row in rows],
    }


def list_rows(card: StreamCard) -> Iterator[Record]:
    """Describe the Parquet files of a stream in JSON-LD, a record set each.

    A record set has a field per column, or lists where the stream is sparse. A dense stream with a column that has no
    name has none, because no field can refer to it.
    """
    columns = _list_columns(card)
    names = {name for name, _ in columns}
    files = {file.name for file in card.files}
    if "" not in names and not names >= _ADDED:
        yield from (
            _describe_rows(card, split, file, columns) for split, file in PARQUET["default"].items() if file in files
        )


def _describe_rows(card: StreamCard, split: str, file: str, columns: Columns) -> Record:
    rows = file.removesuffix(".parquet")
    return {
        "@type": "cr:RecordSet",
        "@id": rows,
        "name": rows,
        "description": _ROWS[split] + (_LISTS if card.rows and card.rows.sparse else _CELLS),
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{rows}/{number}",
                "name": name,
                **kind,
                "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
            }
            for number, (name, kind) in enumerate(columns)
        ],
    }


def _list_columns(card: StreamCard) -> Columns:
    """List the columns of the Parquet files with their types."""
    if card.rows is None:
        return []
    values = list(_list_lists(card)) if card.rows.sparse else list(_list_cells(card))
    columns = key_columns(list(card.rows.key_types), [name for name, _ in values])
    values += [(column, _KEYS[card.rows.key_types[name].rstrip("0123456789")]) for name, column in columns.items()]
    roles = role_columns({name for name, _ in values}, has_masks=has_masks(card.rows))
    return [*((name, _ROLES[role]) for role, name in roles.items()), *values]


def _list_cells(card: StreamCard) -> Iterator[tuple[str, Record]]:
    yield from ((name, _LABEL) for name in card.label_names)
    yield from ((name, _NUMBER) for name in feature_columns(card.label_names, card.feature_names))


def _list_lists(card: StreamCard) -> Iterator[tuple[str, Record]]:
    yield "labels", {**_LABEL, **_LIST}
    if has_unknown_labels(card):
        yield "unknown_labels", {**_INTEGER, **_LIST}
    yield from (("indices", {**_INTEGER, **_LIST}), ("values", {**_NUMBER, **_LIST}))
