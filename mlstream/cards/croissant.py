"""A card as Croissant 1.1: the JSON-LD that search engines and loaders of data sets read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mlstream.card_model import FileCard, StreamCard
from mlstream.cards.licences import licence_page, spdx_identifier
from mlstream.cards.limits import has_unknown_labels
from mlstream.cards.terms import StatedTerms, stated_terms

Record = dict[str, Any]

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
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    **{word: f"cr:{word}" for word in _CROISSANT},
}
# Loaders of Croissant know ARFF by this name; other formats are registered media types.
_ARFF = "https://ml.cms.waikato.ac.nz/weka/arff.html"
_FORMATS = {
    ".arff": _ARFF,
    ".npz": "application/zip",
    ".parquet": "application/x-parquet",
    ".xml": "application/xml",
}


def card_croissant(card: StreamCard) -> str:
    """Write a card as Croissant 1.1.

    Parameters
    ----------
    card : StreamCard
        The card, with its files.

    Returns
    -------
    str
        JSON-LD: the files with their hashes, a record set per ARFF file with a field per column, and the tasks and
        experiences as records of their own.

    References
    ----------
    .. [1] `Croissant format specification, version 1.1
       <https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html>`_.
    """
    terms = stated_terms(card)
    licence = spdx_identifier(terms.licence)
    dataset: Record = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
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
        "distribution": [_describe_file(file) for file in card.files],
        "recordSet": [
            *(_describe_rows(card, file) for file in card.files if file.name.endswith(".arff")),
            _list_tasks(card),
            _list_experiences(card),
        ],
    }
    return json.dumps(dataset, indent=1, ensure_ascii=False) + "\n"


def _describe_creators(card: StreamCard, terms: StatedTerms) -> list[Record]:
    if terms.creators:
        return [{"@type": "Person", "name": name} for name in terms.creators]
    return [{"@type": "Organization", "name": f"{card.source.name}; made a stream by mlstream"}]


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


def _describe_rows(card: StreamCard, file: FileCard) -> Record:
    rows = file.name.removesuffix(".arff")
    held_out = "evaluation" in file.name
    # Loaders would fail to read a question mark as a number.
    columns = [(name, "sc:Text" if has_unknown_labels(card) else "sc:Integer") for name in card.label_names]
    columns += [(name, "sc:Float") for name in card.feature_names]
    return {
        "@type": "cr:RecordSet",
        "@id": rows,
        "name": rows,
        "description": f"Rows {'held out, task after task' if held_out else 'to learn from, in stream order'}."
        + (" A label is 0, 1 or ? (unknown)." if has_unknown_labels(card) else ""),
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{rows}/{number}",
                "name": name,
                "dataType": data_type,
                "source": {"fileObject": {"@id": file.name}, "extract": {"column": name}},
            }
            for number, (name, data_type) in enumerate(columns)
        ],
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
