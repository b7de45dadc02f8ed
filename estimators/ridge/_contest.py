"""A contest of linear models on the rows of a stream: weights of their mixture, and evidence that another is better."""

from typing import NamedTuple, Self

import numpy as np

from estimators._typing import Array
from estimators.ridge._kernels.mixing import blend_then_follow
from estimators.ridge._sums import widened

# A loss must be lower by this share before it is evidence against the model of all rows, or for that of recent rows.
_MARGIN = 0.02


class Contest(NamedTuple):
    """Weights and evidence of models, never changed in place. Model 0 is that of all rows, model 1 of recent rows."""

    weights: Array  # (n_models,), of sum 1: of the mixture
    evidence: Array  # (n_models,): loss saved compared with the current model, since this was last nothing
    spans: Array  # (n_models,): rows since then
    gains: Array  # (n_models,): loss saved compared with the current model, since it became current
    late: Array  # (2, n_labels): weights of rows that count the label, and of positive ones; old rows fade
    errors: Array  # (n_models, n_labels): sums of score minus label over the same rows

    @classmethod
    def start(cls, n_labels: int) -> Self:
        """Start with the models of all rows and of recent ones, all trust in the first."""
        nothing, labels = np.zeros(2), np.zeros((2, n_labels))
        return cls(np.array([1.0, 0.0]), nothing, nothing, nothing, labels, labels)

    def widened(self, n_new: int) -> "Contest":
        """Return the same with more labels, which no row has counted."""
        return self._replace(late=widened(self.late, n_new), errors=widened(self.errors, n_new))

    def blend(self, scores: Array) -> Array:
        """Return the mixture (n_samples, n_labels) of scores (n_samples, n_models * n_labels)."""
        nothing = np.zeros((0, self.late.shape[1]), dtype=np.uint8)
        return self.blend_then_follow(scores, nothing, nothing.astype(np.bool_), np.zeros(nothing.shape[1]), 0)[0]

    def blend_then_follow(
        self, scores: Array, Y: Array, counted: Array, prevalence: Array, current: int
    ) -> tuple[Array, "Contest"]:
        """Return the mixture of each row by the weights that rows before it leave, and the contest after all."""
        after, out = Contest(*(part.copy() for part in self)), np.empty((len(scores), Y.shape[1]))
        margins = np.full(len(self.weights), 0.0 if current else _MARGIN)
        margins[1] = _MARGIN
        numbers = after.weights, after.evidence, after.spans, after.gains, after.late, after.errors
        blend_then_follow(scores, Y, counted, prevalence, current, margins, *numbers, np.empty(len(margins)), out)
        return out, after

    def rearranged(self, sources: list[int], trusted: int) -> "Contest":
        """Return a new contest, in which model i starts from the weight and errors of model ``sources[i]``.

        The new model `trusted` is trusted most from now on.
        """
        weights = self.weights[sources]
        weights[trusted] = weights.max()
        nothing = np.zeros(len(sources))
        return Contest(weights / weights.sum(), nothing, nothing, nothing, self.late, self.errors[sources])

    def strongest(self, models: list[int]) -> int:
        """Return which of some models has the most evidence for it."""
        return max(models, key=lambda model: float(self.evidence[model]))
