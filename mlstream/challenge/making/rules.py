"""The rules of a challenge, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlstream.cards.markdown import code, escape_markdown, table_lines
from mlstream.challenge.clock import format_time
from mlstream.challenge.config import ChallengeConfig
from mlstream.challenge.making.public_card import PublicCard
from mlstream.challenge.scoring.metric import metric_of

_METRICS = {
    "nce": "normalised cross-entropy (-1 is perfect, 0 is the base rate)",
    "ba_macro": "balanced accuracy, mean over labels, of probabilities of at least .5",
    "rmse": "root mean squared error of the probabilities",
    "precision_at_k": "precision of the k labels ranked first, mean over the orders of tied labels and over rows",
    "pw_js": "Jaccard index of the labels with probabilities of at least .5, mean over rows",
}
# Scores of constant predictions that tell nothing about labels.
_CONSTANT = {"nce": "0.0", "ba_macro": "0.5"}
_FILES = (
    ("`train.*`", "features, labels (empty where unknown) and the number of the environment, by row"),
    ("`holdout.*`", "the hidden rows, of all environments together: `row_id` and features"),
    ("`sample_submission.csv`", "a submission that predicts .5 everywhere"),
    ("`baseline.py`", "baselines that need these files only: `python baseline.py --help`"),
    ("`card.public.json`", "this page for programs, and the kind of each feature"),
)
_UNTIL_CLOSED = "when the organiser closes the challenge"


def format_rules(card: PublicCard) -> str:
    """Write the rules as Markdown, the text of RULES.md."""
    paragraphs = [*_task(card), *_submissions(card), *_ranking(card), *_terms(card)]
    return "\n\n".join(paragraphs) + "\n"


def say_metric(metric: str) -> str:
    """Write what is scored, and which scores are better."""
    better = "Lower" if metric_of(metric).lower_is_better else "Higher"
    return f"The score is the {_METRICS[metric]}. {better} is better."


def say_ladder(metric: str, step: float) -> str:
    """Write when a reply repeats a score, and so what it does not say."""
    constant = f", {_CONSTANT[metric]}" if metric in _CONSTANT else ""
    return (
        f"A new score is reported only if it is better, by more than {step:g}, than the best that your team was told "
        f"before. Otherwise, the reply repeats that best score, whatever this submission scored. Until a first score "
        f"is reported, replies hold the score of constant predictions{constant}. Smaller differences are within the "
        "noise of the rows, and would tell their labels."
    )


def phase_times(rules: ChallengeConfig | PublicCard) -> list[tuple[str, str]]:
    """Return what begins and ends, and when, in UTC and in the time zone of the rules."""
    rows = (
        ("development opens", rules.opens, "at once"),
        ("development ends, selection begins", rules.development_ends or rules.final_ends, _UNTIL_CLOSED),
        ("selection ends", rules.final_ends, _UNTIL_CLOSED),
    )
    return [(what, otherwise if time is None else format_time(time, rules.timezone)) for what, time, otherwise in rows]


def _task(card: PublicCard) -> Iterator[str]:
    yield f"# {escape_markdown(card.name)}"
    yield (
        f"Predict the probability of each scored label for {card.n_hidden_rows:,} hidden "
        f"rows. They come from environments other than the {len(card.environments)} of the training rows: the "
        "distribution of the features changes, and so may what predicts the labels."
    )
    yield _table(("file", "what"), _FILES)
    yield (
        "The formats of one table hold the same rows in the same order; `holdout.arff` has no `row_id`, its rows "
        "are in the order of `sample_submission.csv`. Features are renamed. Categories are numbers without an order."
    )
    yield _table(("environment", "training rows"), [(one.number, f"{one.rows:,}") for one in card.environments])


def _submissions(card: PublicCard) -> Iterator[str]:
    labels = ", ".join(code(name) for name in card.scored_labels)
    yield "## Submissions"
    yield (
        "One CSV file (commas, semicolons, tabs or bars between cells; decimal points; may be gzipped) with the "
        "columns `row_id` and the scored labels, or NPZ with the arrays `row_id` and `prob`, or Parquet. One row for "
        "every hidden row, in any order; probabilities in [0, 1]."
    )
    yield f"Scored labels: {labels}."
    yield (
        f"A team has {card.queries_per_day} scored submissions a day, UTC. A file that is not valid costs none of "
        "them. The same file sent again returns its score and costs nothing."
    )
    yield _table(("phase", "time"), phase_times(card))


def _ranking(card: PublicCard) -> Iterator[str]:
    step = card.ladder_step
    form = f"as a multiple of {step:g}." if step else f"rounded to {card.decimals} decimals."
    yield "## Scores and prizes"
    yield say_metric(card.metric)
    yield f"During development, a reply holds the score in the validation environment, {form}"
    if card.ladder_step:
        yield say_ladder(card.metric, card.ladder_step)
    yield (
        f"At the end, each team's selection ({card.final_selections} of its submissions; by default the one with the "
        "best reply, the first of equal ones) is scored once in environments about which no question was answered:"
    )
    robustness = "\n- Robustness prize: the best of the worst scores over environments never seen."
    yield "- Generalisation prize: the best score in the test environment." + robustness * card.robustness_prize
    yield "Of equal scores, the earlier submission ranks first."


def _terms(card: PublicCard) -> Iterator[str]:
    yield "## Terms"
    yield f"Licence of the data: {escape_markdown(card.licence) or 'not stated'}."
    if card.citation:
        yield f"Cite: {escape_markdown(card.citation)}"
    if card.truth_is_public:
        yield (
            "The table that the rows come from is published, so that labels can be looked up. To do so is against the "
            "rules: submissions must follow from the files of this bundle."
        )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return "\n".join(table_lines(head, rows))
