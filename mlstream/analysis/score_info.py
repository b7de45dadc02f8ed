"""The scores: their titles on the page, which direction is better, and what they measure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from metrics.named import NAMED_METRICS

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Heading:
    """The head of a column, or the title of an axis."""

    title: str
    better: Better = "neither"
    meaning: str = ""


_NCE = "Cross-entropy against the base rate of the environment: -1 is perfect, above 0 worse than the rate alone."

SCORE_HEADINGS = {
    "ba_macro": Heading(
        "BA_macro", "higher", "Balanced accuracy, mean over labels; each row is predicted before it is learnt."
    ),
    "precision_at_k": Heading("Precision@k", "higher", "Share of the k best-scored labels that are relevant."),
    "precision_at_k_maximum": Heading(
        "Precision@k, attainable", "neither", "The most that rows with fewer than k relevant labels allow."
    ),
    "rmse": Heading("RMSE", "lower", "Root of the mean squared error of a row's probabilities, mean over rows."),
    "kappa_temporal": Heading(
        "Kappa-temporal",
        "higher",
        "Share of the mistakes of repeating the last labels that the strategy avoids, by rows with every label right.",
    ),
    "kappa_temporal_macro": Heading(
        "Kappa-temporal, macro", "higher", "The same for each label on its own, mean over labels."
    ),
    "no_change_subset_accuracy": Heading(
        "Repeating", "neither", "Subset accuracy of repeating the last labels: the same for every strategy."
    ),
    "share_asked": Heading("Asked", "neither", "Share of the labels that the learner asked for, under a budget."),
    "set_coverage": Heading("Coverage of sets", "neither", "Share of prediction sets that hold the truth."),
    "set_size": Heading("Size of sets", "neither", "Mean number of values in a prediction set: 2 if open, 0 if empty."),
    "set_size_late": Heading("Size of sets, late", "neither", "The same, over about the last 1,000 rows."),
    "acc": Heading("ACC", "higher", "BA_macro on the evaluation sets of the tasks seen, after the last experience."),
    "acc_mean": Heading("ACC, mean", "higher", "The same after each experience, mean over experiences."),
    "bwt": Heading("BWT", "higher", "Backward transfer: final score on a task minus that right after its last visit."),
    "fwt": Heading("FWT", "higher", "Forward transfer: score on a task before its first visit minus before learning."),
    "fm": Heading("FM", "lower", "Forgetting: best score on a task since its first visit minus the final one."),
    "bwt_stepwise": Heading("BWT, stepwise", "higher", "Change of the score on tasks seen earlier, per experience."),
    "bwt_stepwise_gains": Heading("BWT, stepwise gains", "higher", "Gains on tasks seen earlier, per experience."),
    "bwt_stepwise_losses": Heading(
        "BWT, stepwise losses", "higher", "Losses on tasks seen earlier, per experience; 0 is best."
    ),
    "fwt_stepwise": Heading("FWT, stepwise", "higher", "Change of the score on tasks not seen yet, per experience."),
    "fwt_stepwise_gains": Heading("FWT, stepwise gains", "higher", "Gains on tasks not seen yet, per experience."),
    "fwt_stepwise_losses": Heading(
        "FWT, stepwise losses", "higher", "Losses on tasks not seen yet, per experience; 0 is best."
    ),
    "frug_kwh": Heading(
        "Frug (kWh)",
        "higher",
        "Frugality: ACC minus C / (1 + C), C the energy of the run in kWh, as in the literature; hardly less than ACC.",
    ),
    "frug_kj": Heading(
        "Frug (kJ)", "higher", "The same with the energy in kJ: half of the penalty is reached at 1,000 J."
    ),
    "im": Heading("IM", "lower", "Intransigence: score of a joint model minus that right after learning a task."),
    "fwt_single": Heading(
        "FWT, single", "higher", "Score on a task right after learning it minus that of a model of this task alone."
    ),
    "acc_joint": Heading("ACC, joint", "neither", "A clone that learnt all experiences, shuffled: an upper bound."),
    "pw_js": Heading(
        "pw-JS", "higher", "Precision-weighted Jaccard similarity of label paths, mean over the tasks seen, at the end."
    ),
    "pw_js_mean": Heading("pw-JS, mean", "higher", "The same after each experience, mean over experiences."),
    "pw_js_bwt": Heading("pw-JS, BWT", "higher", "Backward transfer of pw-JS, as BWT is that of BA_macro."),
    "pw_js_fwt": Heading("pw-JS, FWT", "higher", "Forward transfer of pw-JS, as FWT is that of BA_macro."),
    "pw_js_fm": Heading("pw-JS, FM", "lower", "Forgetting of pw-JS, as FM is that of BA_macro."),
    "hierarchy_consistency": Heading(
        "Hierarchy consistency", "higher", "Share of rows whose predicted subclasses come with their superclass."
    ),
    "jaccard": Heading("Jaccard", "higher", "Jaccard similarity of label sets, mean over the tasks seen, at the end."),
    "refinement_jaccard": Heading(
        "Refinement Jaccard", "higher", "Jaccard similarity in which a subclass weighs more, the harder it is to guess."
    ),
    "refinement_recall": Heading("Refinement recall", "higher", "Share of the true subclasses that are predicted."),
    "nce": Heading("NCE", "lower", _NCE),
    "nce_worst": Heading("NCE, worst", "lower", f"{_NCE} In the environment where it is worst."),
    "nce_worst_unseen": Heading("NCE, worst unseen", "lower", f"{_NCE} The worst of those with the role unseen."),
    **{name: Heading(one.title, one.better, one.meaning) for name, one in NAMED_METRICS.items()},
}
_ENVIRONMENT = re.compile(r"nce\[(.*)\]")
_RULE = re.compile(r"(.+)\[(\w+)\]")
# Rules of decisions, and first predictions: what the title gains, and who decided, and when.
_RULES = {
    "own": (", own decisions", "As the strategy itself decides."),
    "half": (", half", "Decided at a probability of one half."),
    "prevalence": (", prevalence", "Decided at the prevalence of the label."),
    "first": (", first", "Of the first prediction of each row, made before any of its late labels came."),
}
# Endings of names: what the title gains, and how the score follows from that of the shorter name.
_VARIANTS = {
    "_anytime": (", any time", "Over the rows so far, mean over all rows: the area under the prequential curve."),
    "_held_out": (", held out", "On the evaluation sets of the tasks seen, after the last experience."),
}


def score_heading(name: str) -> Heading:
    """Return the heading of a score; one that is not listed here keeps its name and has no direction."""
    for ending, (words, how) in _VARIANTS.items():
        plain = SCORE_HEADINGS.get(name.removesuffix(ending))
        if plain is not None and name.endswith(ending):
            return Heading(f"{plain.title}{words}", plain.better, f"{plain.meaning} {how}")
    if environment := _ENVIRONMENT.fullmatch(name):
        return Heading(f"NCE, {environment[1]}", "lower", _NCE)
    if (decided := _RULE.fullmatch(name)) and decided[2] in _RULES:
        plain, (words, how) = score_heading(decided[1]), _RULES[decided[2]]
        return Heading(f"{plain.title}{words}", plain.better, f"{plain.meaning} {how}".strip())
    return SCORE_HEADINGS.get(name, Heading(name))
