"""The example of hats and shirts: a feature that misleads, and one that does not."""

from __future__ import annotations

import numpy as np

from mlstream._support.mapped import require_memory
from mlstream.generators._parameters import describe_call, require_count, require_seed
from mlstream.generators._randomness import Purpose, generator_for
from mlstream.generators.from_tables.environment_roles import Role, describe_environments, lay_out_roles
from mlstream.streams.stream import Dataset, Stream

# Columns: hat, orange, responds. Six people a domain.
_PEOPLE = {
    "A": ((0, 1, 1), (0, 1, 1), (0, 1, 0), (1, 1, 0), (1, 0, 0), (1, 0, 0)),
    "B": ((0, 0, 1), (0, 0, 1), (0, 0, 0), (1, 1, 0), (1, 0, 0), (1, 0, 0)),
}


def hat_and_shirt_stream(*, seed: int = 0, n_copies: int = 50, name: str = "hat-and-shirt") -> Stream:
    """Make the example of hats and shirts, exact to its proportions: who wears a hat never responds.

    Parameters
    ----------
    seed : int
        Source of everything random: the order of the rows.
    n_copies : int
        Copies of the six people of a domain, in its experience and again in its evaluation set.
    name : str
        Name of the stream.

    Returns
    -------
    Stream
        Domains A and B, one experience each. Features are "hat" and "orange", the label is "responds". The hat is
        invariant; orange predicts a response in A, and blue does in B.

    References
    ----------
    Criteo AI Lab, "PRINCE: PRomoting INvariance for Classification across Environments", challenge of ECML-PKDD 2022.

    Examples
    --------
    >>> hat_and_shirt_stream(n_copies=1)
    Stream('hat-and-shirt': 2 experiences of 2 tasks, 12 rows, 2 features, 1 labels)
    """
    # Four blocks of copies of six people, with two features and one label, as integers before they are converted.
    require_memory(4 * 6 * 3 * 8 * require_count(n_copies, "n_copies"), "n_copies copies")
    rng = generator_for(Purpose.SPLIT, require_seed(seed))
    # Whole copies are learnt and whole copies held out, so that both are exact.
    halves = [rng.permutation(np.tile(_PEOPLE[domain], (n_copies, 1))) for domain in "AABB"]
    people = np.concatenate(halves)
    X, Y = people[:, :2].astype(np.float64), people[:, 2:].astype(np.uint8)
    table = Dataset(X, Y, ("hat", "orange"), ("responds",), name, source="synthetic")
    members = np.split(np.arange(len(people)), 2)
    roles: tuple[Role, Role] = ("train", "train")
    parts = lay_out_roles(table, members, roles, evaluation_fraction=0.5, seed=seed, shuffle=False)
    call = describe_call(hat_and_shirt_stream, {"n_copies": n_copies, "name": name, "seed": seed})
    description = "Two domains in which the colour of the shirt misleads and the hat does not."
    return Stream(parts, describe_environments(table, parts, roles, call, name=name, description=description))
