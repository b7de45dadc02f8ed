"""The table of the pw-JS measure (Abdelsalam et al., CVPR 2021), and the proportions of the hat-and-shirt example.

python -m benchmarks.reproduction.hierarchy_and_hats
"""

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.reproduction.compare import Value, report
from metrics import pw_js
from mlstream.generators import hat_and_shirt_stream

# labels: bear, polar bear, brown bear, dog
CASES = {
    "the same": ([1, 1, 0, 0], [1, 1, 0, 0], 1.0),
    "too coarse": ([1, 1, 0, 0], [1, 0, 0, 0], 1 / 2),
    "too fine": ([1, 0, 0, 0], [1, 1, 0, 0], 1 / 4),
    "wrong subclass": ([1, 0, 1, 0], [1, 1, 0, 0], 1 / 6),
    "another class": ([0, 0, 0, 1], [1, 0, 0, 0], 0.0),
}
# (hat, orange shirt, responds) -> people of six, in each domain
PEOPLE = {
    "A": {(0, 1, 1): 2, (0, 1, 0): 1, (1, 1, 0): 1, (1, 0, 0): 2},
    "B": {(0, 0, 1): 2, (0, 0, 0): 1, (1, 1, 0): 1, (1, 0, 0): 2},
}


def main() -> int:
    """Compare the five rows of the table and the eight shares."""
    return report("pw-JS, five rows", _pw_js()) | report("Hats and shirts, shares of people", _hats())


def _pw_js() -> Iterator[Value]:
    for name, (true, predicted, printed) in CASES.items():
        yield Value(name, printed, float(pw_js([true], [predicted])))


def _hats() -> Iterator[Value]:
    stream = hat_and_shirt_stream(seed=0)
    for name, experience in zip(PEOPLE, stream, strict=False):
        rows = np.hstack([experience.X, experience.Y]).astype(int)
        for person, count in PEOPLE[name].items():
            share = float((rows == person).all(axis=1).mean())
            yield Value(f"domain {name}: hat, orange, responds = {person}", count / 6, share, tolerance=1e-12)


if __name__ == "__main__":
    sys.exit(main())
