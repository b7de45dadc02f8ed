"""Everything public is in the documentation."""

from pathlib import Path

import estimators
import metrics
import mlstream
from mlstream import generators, plotting

API = Path(__file__).parents[1] / "docs" / "api.rst"

# Registries and the results of significance tests are described with the functions that use them.
WITH_THEIR_FUNCTIONS = {
    "BayesianComparison",
    "FROM_NOTHING",
    "FROM_STREAMS",
    "FROM_TABLES",
    "FriedmanResult",
    "GENERATORS",
    "LearningSpeed",
    "PUBLISHED_ORDERS",
    "SCENARIOS",
    "STRATEGIES",
    "StreamParts",
    "remake",
}


def test_every_public_name_is_in_the_api():
    listed = {line.strip().rpartition(".")[2] for line in API.read_text(encoding="utf-8").splitlines()}
    public = {*metrics.__all__, *estimators.__all__, *mlstream.__all__, *generators.__all__, *plotting.__all__}
    assert public - listed == WITH_THEIR_FUNCTIONS
