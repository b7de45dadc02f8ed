"""Ranks of learners with default parameters, under one decision rule for all of them.

Measures what has no record in the folder yet, then prints each board: mean ranks, mean scores and tests; who is best in
BA, ACC, RMSE and precision@k at once; and the energy condition. `docs/learners/learner_ranks.rst` describes the boards.

    python -m benchmarks.learner_ranks learner-ranks
    python -m benchmarks.learner_ranks learner-ranks --boards worlds --sources 'tree-*' --learners NN_TL StreamRidge
"""

import argparse
from pathlib import Path

from benchmarks.learner_ranks.records import Wanted, load_records, measure_all
from benchmarks.learner_ranks.tables import show, write_tables
from estimators.strategies import STRATEGIES


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learner_ranks", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", nargs="+", default=["design"], choices=["design", "confirmation"])
    parser.add_argument("--boards", nargs="+", default=["streams", "worlds", "field"])
    parser.add_argument("--sources", nargs="+", default=["*"])
    parser.add_argument("--learners", nargs="+", default=list(STRATEGIES))
    parser.add_argument("--again", nargs="+", default=[])
    parser.add_argument("--tables", type=Path, help="folder for CSV files of the boards")
    chosen = parser.parse_args()
    wanted = Wanted(chosen.parts, chosen.boards, chosen.sources, chosen.learners)
    for line in measure_all(chosen.folder, wanted, chosen.again):
        print(line, flush=True)
    for part in chosen.parts:
        records = [
            record for record in load_records(chosen.folder) if record.part == part and record.board in chosen.boards
        ]
        print(f"\n{part}".upper(), *show(records, chosen.learners), sep="\n")
        if chosen.tables:
            write_tables(chosen.tables, part, records, chosen.learners)


if __name__ == "__main__":
    main()
