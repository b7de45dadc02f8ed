"""The field's learners, test-then-train, side by side in one run with what a user would take instead.

Peers are River's learners where River has them, else a loop in NumPy or PyTorch, vectorised as one would write it.
Slow peers learn the first rows of Yeast only; so do ours then. On a busy machine, compare seconds of CPU (``--cpu``).
"""

from field_learners.ensembles import linear_ensembles
from field_learners.neighbours import neighbours
from field_learners.replay import rehearsal
from field_learners.trees import adaptive_trees, revised_trees
from harness import main

if __name__ == "__main__":
    main(
        __doc__.splitlines()[0],
        [*neighbours(), *revised_trees(), *adaptive_trees(), *linear_ensembles(), *rehearsal()],
        ["numpy", "numba", "river", "torch"],
        repeats=3,
    )
