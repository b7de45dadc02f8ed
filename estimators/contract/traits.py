"""Traits that a class of learners states about itself, besides its hooks."""

from typing import Any, NamedTuple


class Traits(NamedTuple):
    """Traits of a learner, stated in ``_traits``, by which the base and learners around it treat it as it needs.

    The defaults are safe for any learner. Where a trait follows from a parameter or from a learner inside, ``_traits``
    is a property.
    """

    # Y is int64 (n_samples,) for one class a row, positions in `classes_`, and `_predict_proba` returns (n_samples,
    # n_classes); otherwise each class, or the second of two, is a 0/1 column.
    takes_codes: bool = False
    # Unknown labels are 2 in Y, and such a cell changes nothing. A learner that uses the task finds them outside the
    # mask; any other one refuses rows that are known in part.
    learns_unknown: bool = False
    # Something else than divergence can fail once rows are checked, so that learners around it make copies of it.
    fails_late: bool = True
    # Features that do not fit this precision are refused; learners around it check all rows for it in advance.
    precision: str | None = None
    # Values of rows that the learner takes besides labels and weights, such as "environment": `_learn` and
    # `_predict_then_learn` get those that are not None as keyword arguments, arrays of one value a row.
    row_metadata: tuple[str, ...] = ()


def traits_of(estimator: Any) -> Traits:
    """Return the traits of a learner; of one of another package nothing is known."""
    traits: Traits = getattr(estimator, "_traits", Traits())
    return traits
