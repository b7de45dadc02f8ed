"""Real tables that can be named instead of given as a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mlstream.formats.content import PACKED

_FOLDER = "MLSTREAM_DATA"
_PUBLIC = "Public research data (MULAN, MEKA and KDIS collections); no licence file of its own."
_MIT = "MIT (github.com/eliot-leguy/OSC-MLC)"
_YEAST = "Elisseeff, Weston: A kernel method for multi-labelled classification. NIPS 14, 2001."
_SYNTHETIC = (
    "Peuzet, Kuntz, Meyer, Lemaire, Le Mau: Apprentissage multi-labels et multi-tâches en continu pour données "
    "tabulaires. EGC 2025."
)


@dataclass(frozen=True, kw_only=True)
class DatasetEntry:
    """A table that is known by name.

    Parameters
    ----------
    name : str
        What `load_dataset` takes.
    file : str
        Name of its file, which may be packed (.gz, .bz2, .xz) where it lies.
    sha256 : str
        Hash of the file's content, unpacked.
    labels : int
        Label columns: the first n, or the last n if negative.
    n_samples, n_features, n_labels : int
        Its size.
    licence, citation : str
        Terms of use, and what to cite.
    package : str
        Name of the installed package and the folder in it that holds the file; empty for files of a local folder.
    """

    name: str
    file: str
    sha256: str
    labels: int
    n_samples: int
    n_features: int
    n_labels: int
    licence: str
    citation: str
    package: str = ""

    @property
    def where(self) -> str:
        """Where the file is, or what to do to have it."""
        path = self.find()
        if path is not None:
            return f"embedded ({self.package.partition('/')[0]})" if self.package else str(path)
        return f"set {_FOLDER} to a folder that holds {self.file}"

    def find(self) -> Path | None:
        """Look the file up: in its package, or anywhere in the folder that the variable MLSTREAM_DATA names."""
        folder = _folder_in_package(self.package) if self.package else os.environ.get(_FOLDER)
        if not folder:
            return None
        names = [self.file + suffix for suffix in ("", *PACKED)]
        return next((path for name in names for path in sorted(Path(folder).rglob(name))), None)

    def require(self) -> Path:
        """Look the file up, and say what to do if it is not there."""
        path = self.find()
        if path is None:
            place = f"the package {self.package}" if self.package else f"the folder that {_FOLDER} names"
            got = f"{_FOLDER}={os.environ[_FOLDER]}" if _FOLDER in os.environ else f"no variable {_FOLDER}"
            raise FileNotFoundError(
                f"Data set {self.name!r} must be in {place}, as {self.file} ({', '.join(PACKED)}). Got {got}."
            )
        return path


def list_datasets() -> tuple[DatasetEntry, ...]:
    """List the tables that can be named.

    Returns
    -------
    tuple of DatasetEntry
        Name, size, terms of use and citation of each; `where` says where its file is or what to do to have it.

    Examples
    --------
    >>> [entry.name for entry in list_datasets()][:3]
    ['yeast', 'yeast-osc-mlc', 'scene']
    """
    return _ENTRIES


def _folder_in_package(package: str) -> Path | None:
    name, _, folder = package.partition("/")
    # Finding a package does not import it.
    spec = find_spec(name)
    locations = (spec.submodule_search_locations if spec else None) or []
    return next((Path(location) / folder for location in locations), None)


_ENTRIES = (
    DatasetEntry(
        name="yeast",
        file="yeast.csv",
        sha256="fd17cb9b53acaaf5e82a9e0795e2667167775915c0e32c1f6fe0fadb0d3bd703",
        labels=-14,
        n_samples=2417,
        n_features=103,
        n_labels=14,
        licence=_PUBLIC,
        citation=_YEAST,
        package="river/datasets",
    ),
    DatasetEntry(
        name="yeast-osc-mlc",
        file="Yeast.arff",
        sha256="2795953dbbcaf8a53b1cbf5376ed3153e6c240a942763a3f927c05b452d3abb1",
        labels=14,
        n_samples=2417,
        n_features=103,
        n_labels=14,
        licence=_PUBLIC,
        citation=_YEAST,
    ),
    DatasetEntry(
        name="scene",
        file="Scene.arff",
        sha256="39282e8ce59ae7b544bd87cd94cdce8f398e94d3dd5cf44b8d4a81492ae894fa",
        labels=6,
        n_samples=2407,
        n_features=294,
        n_labels=6,
        licence=_PUBLIC,
        citation="Boutell, Luo, Shen, Brown: Learning multi-label scene classification. "
        "Pattern Recognition 37(9), 2004.",
    ),
    DatasetEntry(
        name="slashdot",
        file="Slashdot.arff",
        sha256="5b1ff02219fb0d1b33d9d8cf86f69a222f95f59a89b13f61e245e2289c54d1bf",
        labels=22,
        n_samples=3782,
        n_features=1079,
        n_labels=22,
        licence=_PUBLIC,
        citation="Read, Pfahringer, Holmes, Frank: Classifier chains for multi-label classification. "
        "Machine Learning 85(3), 2011.",
    ),
    DatasetEntry(
        name="reuters-k500",
        file="Reuters-K500.arff",
        sha256="d7813a2d83e5909380a98219ec42ef46dd1df48003c986c2cd2a1e35dba4826e",
        labels=103,
        n_samples=6000,
        n_features=500,
        n_labels=103,
        licence=_PUBLIC,
        citation="Read: Scalable multi-label classification. University of Waikato, 2010.",
    ),
    DatasetEntry(
        name="20ng",
        file="20NG-F.arff",
        sha256="25e12aa11aa37ffedc3bc60460a2875227a80dd5dacd43ce45f5651629611208",
        labels=20,
        n_samples=19300,
        n_features=1006,
        n_labels=20,
        licence=_PUBLIC,
        citation="Lang: NewsWeeder: learning to filter netnews. ICML 1995.",
    ),
    DatasetEntry(
        name="synthetic_monolab",
        file="synthetic_monolab.arff",
        sha256="c644f50fd1f1ba480a0dc6d577ed11530992bfb94003fbc219fa1efaf4495757",
        labels=-4,
        n_samples=4000,
        n_features=4,
        n_labels=4,
        licence=_MIT,
        citation=_SYNTHETIC,
    ),
    DatasetEntry(
        name="synthetic_bilab",
        file="synthetic_bilab.arff",
        sha256="32356e3b94c7aea657711a8d55b1d950b50576fc48c5b079a9cc1187e5a762d2",
        labels=-4,
        n_samples=4000,
        n_features=4,
        n_labels=4,
        licence=_MIT,
        citation=_SYNTHETIC,
    ),
    DatasetEntry(
        name="synthetic_rand",
        file="synthetic_rand.arff",
        sha256="4a344893cb61c84d0d60acb03d32c4052050164123ee89f9de1d4999942899d9",
        labels=-4,
        n_samples=4000,
        n_features=4,
        n_labels=4,
        licence=_MIT,
        citation=_SYNTHETIC,
    ),
)
