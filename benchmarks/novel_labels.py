"""Rows with a label whose truth is withheld: area under the curve of scores, and groups that are offered for naming.

    python benchmarks/novel_labels.py
    python benchmarks/novel_labels.py --streams yeast-tasks events-10 --learner BR_LR

Each label in 2 to 30 % of the rows is withheld in turn, at most five of a stream: rows that have it are left out of the
first third, and then nobody knows it. "events-10" is a log of three weeks with six threats, drawn with seed 10, as
windows of an hour. Streams are those that this project publishes; real tables are read from MLSTREAM_DATA. The area is
that of rows with the label against all others, from the first one with it on:

- NovelLabels: its score around the learner, which never hears of the label;
- learner: the sum of log(1 - p) over the labels that it knows;
- recent: the share of recent rows without a known label, from the truth of the rows before;
- forest, 1NN: scikit-learn's isolation forest, and the distance to the nearest row, fitted on all rows before;
- truth: whether the row itself has no known label, which is known later.

Groups are then answered: how many labels were found, the median number of rows with the label until then, false groups
per 1,000 rows, and the area of the probability of the label once it has a name. The last lines are CPU times of a row.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from harness import sized, us_a_row
from scipy import sparse
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from estimators import NovelLabels, make_strategy
from estimators.contract.validation import stack_rows
from mlstream import Dataset, Stream, evaluate_naming
from mlstream.generators import synthetic_events, windowed
from mlstream.publishing.presets import make_preset

STREAMS = (
    *("scene-tasks", "yeast-tasks", "slashdot-tasks", "reuters-k500-tasks", "20ng-tasks"),
    *("synthetic-monolab", "synthetic-bilab"),
    *(f"events-{seed}" for seed in range(10, 15)),
)
MOST_LABELS = sized(5, 1)
SCORES = ("NovelLabels", "learner", "recent", "forest", "1NN", "truth")


def open_stream(name: str) -> Stream | Dataset:
    """Return a published stream, or the windows of a log."""
    if not name.startswith("events-"):
        return make_preset(name)
    log = synthetic_events(seed=int(name.removeprefix("events-")), n_days=21, n_threats=6, n_campaigns=8)
    return windowed(log, every="1h")


def rows_of(stream: Stream | Dataset) -> tuple[Any, np.ndarray, Sequence[str]]:
    """Return features, labels and the names of labels, rows in their order."""
    if isinstance(stream, Dataset):
        return stream.X, stream.Y, stream.label_names
    X = stack_rows([part.X for part in stream])
    # the isolation forest reads no 64-bit indices
    return X.toarray() if sparse.issparse(X) else X, np.concatenate([p.Y for p in stream]), stream.card.label_names


def score_peers(X: Any, known: np.ndarray, first: int, inner: Any) -> dict[str, np.ndarray]:
    """Return the scores of others, for the rows from `first` on."""
    bare = ~(known == 1).any(axis=1)
    recent, shares = 0.5, []
    for i, none in enumerate(bare):
        shares.append(recent)
        recent += (none - recent) / min(i + 2, 20)
    proba = np.concatenate(
        [inner.predict_then_fit(X[i : i + 50], known[i : i + 50])[1] for i in range(0, len(bare), 50)]
    )
    scaler = StandardScaler(with_mean=False).fit(X[:first])
    nearest = NearestNeighbors(n_neighbors=1).fit(scaler.transform(X[:first]))
    return {
        "learner": np.log(1 - np.minimum(proba[first:], 1 - 1e-6)).sum(axis=1),
        "recent": np.array(shares[first:]),
        "forest": -IsolationForest(random_state=0).fit(X[:first]).score_samples(X[first:]),
        "1NN": nearest.kneighbors(scaler.transform(X[first:]))[0][:, 0],
        "truth": bare[first:].astype(float),
    }


def areas(learner: NovelLabels, stream: Stream | Dataset, label: int) -> dict[str, float]:
    """Return the area under the curve of each score for one label that is withheld."""
    X, Y, names = rows_of(stream)
    absent_until, has = len(Y) // 3, Y[:, label] == 1
    played = evaluate_naming(learner, stream, [names[label]], absent_until=absent_until, answer=False)
    kept = (np.arange(len(Y)) >= absent_until) | ~has
    X, known, has = X[kept], np.delete(Y[kept], label, axis=1), has[kept]
    first = int(has.argmax())
    scores = {"NovelLabels": played.novelty[first:]} | score_peers(X, known, first, learner.estimator)
    return {name: float(roc_auc_score(has[first:], score)) for name, score in scores.items()}


def print_stream(name: str, learner: str) -> None:
    """Print the line of a stream."""
    stream = open_stream(name)
    _, Y, names = rows_of(stream)
    share = (Y == 1).mean(axis=0)
    labels = [label for label in np.argsort(-share, kind="stable") if 0.02 < share[label] < 0.3][:MOST_LABELS]

    def make() -> NovelLabels:
        return NovelLabels(make_strategy(learner, random_state=0, on_new_labels="grow"), random_state=0)

    tables = [areas(make(), stream, label) for label in labels]
    line = "".join(f"{np.mean([table[score] for table in tables]):12.3f}" for score in SCORES)
    games = [evaluate_naming(make(), stream, [names[label]], absent_until=len(Y) // 3) for label in labels]
    found = [named for game in games for named in game.labels.values() if named.delay is not None]
    rows = f"{np.median([named.n_missed for named in found]):6.0f}" if found else f"{'-':>6}"
    false = np.mean([game.false_groups_per_1000 for game in games])
    after = f"{np.nanmean([named.auc_named for named in found]):7.3f}" if found else f"{'-':>7}"
    print(f"{name:20}{line}{len(found):6} of {len(labels)}{rows}{false:7.2f}{after}", flush=True)


def main() -> None:
    """Print a line for each stream, and what a row takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", default=list(sized(STREAMS, ("synthetic-monolab",))), metavar="NAME")
    parser.add_argument("--learner", default="StreamRidge", metavar="NAME")
    options = parser.parse_args()
    print(f"{'':20}{''.join(f'{score:>12}' for score in SCORES)}{'found':>11}{'rows':>6}{'false':>7}{'after':>7}")
    for name in options.streams:
        print_stream(name, options.learner)
    for name in ("BR_LR", "StreamRidge"):
        alone = partial(make_strategy, name, random_state=0)
        for kind, (chunk, one) in us_a_row({"alone": alone, "NovelLabels": partial(NovelLabels, alone())}).items():
            print(f"{name}, {kind}: {chunk:.1f} us a row in one call, {one:.1f} us one by one")


if __name__ == "__main__":
    main()
