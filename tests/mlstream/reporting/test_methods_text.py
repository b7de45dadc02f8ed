"""The methods in words state what records and cards hold, each difference between runs, and nothing else."""

import pytest

from mlstream.records.selection_record import Selection, Trial
from mlstream.reporting.methods_text import join_words, methods_text
from mlstream.reporting.report import report
from mlstream.streams.card_model import SourceCard
from tests.mlstream.records.run_records import make_capped, make_card, make_run, write_campaign


def methods_of(*runs, is_compared=False, cards=None):
    cards = cards or {run.stream: make_card(run.stream) for run in runs}
    return {one.title: one.text for one in methods_text(runs, cards, is_compared=is_compared)}


def test_data_are_described_from_the_card():
    text = methods_of(make_run())["Data"]
    assert text == (
        "The stream yeast was made from Yeast (licence: CC BY 4.0) by task_stream of mlstream (seed 0; SHA-256 of the "
        "stream cdcdcdcdcdcd). It has 1,692 rows to learn from in 8 experiences of 4 tasks, 725 held-out rows, "
        "103 features and 14 labels; boundaries between tasks are abrupt."
    )


def test_a_licence_that_is_not_known_is_not_stated_and_many_streams_are_listed():
    card = make_card().model_copy(
        update={"source": SourceCard(name="own", origin="own.csv", sha256="ab" * 32, n_samples=3)}
    )
    assert "was made from own by task_stream" in methods_of(make_run(), cards={"yeast": card})["Data"]
    many = methods_of(*(make_run("NN", 0, f"s{number}") for number in range(9)))["Data"]
    assert many.startswith("9 streams were used")
    assert many.endswith("s0, s1, s2, s3, s4, s5, s6, s7 and s8.")


@pytest.mark.parametrize(
    ("space", "words"),
    [
        ("task", "the labels of the task of the row"),
        ("seen", "the labels of all tasks seen so far"),
        ("all", "all labels"),
    ],
)
def test_the_label_space_is_stated(space, words):
    assert f" A score counts {words}. " in methods_of(make_run(label_space=space))["Protocol"]


def test_streams_with_other_label_spaces_are_named():
    text = methods_of(make_run("NN", 0, "a"), make_run("NN", 0, "b", label_space="all"))["Protocol"]
    assert "A score counts the labels of the task of the row on a. A score counts all labels on b." in text


def test_seeds_caps_and_unfinished_runs_are_stated():
    text = methods_of(make_run("NN", 0), make_run("NN", 10), make_run("NN", 3), make_capped("BR_HT", 0))["Protocol"]
    assert "Runs were made with seeds 0, 3 and 10 of the learner; scores are means" in text
    assert "1 of 4 runs did not finish. The time of a run was limited to 10800 s." in text
    one = methods_of(make_run("NN", 7, order_seed=1, split_seed=2, settings={}))["Protocol"]
    assert "with seed 7 of the learner, seed 1 of the order of tasks and seed 2 of the split of rows." in one
    assert "means" not in one
    assert "limited" not in one


def varied(seed, stream="yeast", parts=("order", "split"), strategy="NN"):
    """Record a run whose seed is also that of the order of tasks, of the split of rows, or of both."""
    return make_run(strategy, seed, stream, **{f"{part}_seed": seed for part in parts})


def test_seeds_that_set_order_and_split_are_stated_once():
    text = methods_of(*(varied(seed) for seed in (0, 1, 2)))["Protocol"]
    assert (
        "Runs were made with seeds 0, 1 and 2 of the learner; scores are means, with the standard deviation where they "
        "differ. For all strategies alike, each seed also set the order of tasks and the split of rows. The time"
        in text
    )
    assert text.count("seed") == 2
    one = methods_of(varied(4, parts=("order",)))["Protocol"]
    assert "seed 4 of the learner. For all strategies alike, each seed also set the order of tasks. The time" in one


def test_streams_on_which_seeds_set_other_things_are_named():
    runs = [
        run for seed in (0, 1) for run in (varied(seed, "a"), varied(seed, "b", ("order",)), make_run("NN", seed, "c"))
    ]
    text = methods_of(*runs)["Protocol"]
    for what in ("the order of tasks and the split of rows on a", "the order of tasks on b", "nothing on c"):
        assert f"For all strategies alike, each seed also set {what}." in text


@pytest.mark.parametrize(
    "runs",
    [
        # All combinations of a seed and two orders; and plain seeds, then orders, in one folder.
        [make_run("NN", 0, order_seed=order) for order in (0, 1)],
        [make_run("NN", 0), make_run("NN", 1), make_run("NN", 0, order_seed=0)],
        [varied(0), varied(1, parts=("order",))],
    ],
)
def test_seeds_of_orders_and_splits_are_listed_unless_one_seed_sets_all(runs):
    text = methods_of(*runs)["Protocol"]
    assert " of the order of tasks" in text
    assert "each seed" not in text


def test_learners_that_draw_nothing_at_random_are_named_where_only_their_seed_varied():
    scores = {"acc": 0.5}
    runs = [make_run(name, seed, scores=scores) for name in ("1NN", "mean") for seed in (0, 1)]
    text = methods_of(*runs, make_run("NN", 0), make_run("NN", 1))["Protocol"]
    assert "The seed alone changed no score of 1NN and mean: nothing is drawn at random there." in text
    assert "changed no score" not in methods_of(varied(0), varied(1))["Protocol"]


def test_strategies_are_stated_with_class_tuning_and_view_of_the_task():
    trials = [Trial(parameters={"step": step}, status="done", ba_macro=0.5) for step in (0.1, 0.2)]
    runs = [
        make_run("NN", selection=Selection(trials=trials, chosen=0), given_labels="none"),
        make_run("NN_TL", given_labels="task", given_environment=True),
        make_run("mean", estimator="MeanLabelsClassifier()", given_labels="none"),
    ]
    text = methods_of(*runs)["Strategies"]
    assert text.startswith("With the class of each estimator: NN (NNClassifier), NN_TL (NNTLClassifier)")
    assert "and mean (MeanLabelsClassifier, a baseline)." in text
    assert "The parameters of NN were tuned (2): configurations were drawn at random" in text
    assert "The parameters of NN_TL and mean were not searched." in text
    assert (
        "NN and mean learnt without the labels of the task; NN_TL learnt with the labels of the task of each row."
        in text
    )
    assert text.endswith("The environment of each row was given to NN_TL for learning.")
    alone = methods_of(make_run(given_labels=None))["Strategies"]
    assert alone == "With the class of each estimator: NN (NNClassifier). No parameters were searched."


@pytest.mark.parametrize(
    ("rule", "words"), [("skip", "was left out"), ("recall", "recall of its only class"), ("river", "River up to 0.21")]
)
def test_scores_are_defined_with_the_rule_for_one_class(rule, words):
    text = methods_of(make_run(settings={"one_class": rule}))["Scores"]
    assert "The main scores are BA_macro: balanced accuracy, mean over labels" in text
    assert "; ACC: BA_macro on the evaluation sets" in text
    assert text.count("A label whose true values are all the same") == 1
    assert words in text
    mixed = methods_of(make_run(settings={"one_class": rule}), make_run("NN_TL", settings={"one_class": "skip"}))
    assert mixed["Scores"].count("A label whose") == (1 if rule == "skip" else 2)


def test_scores_are_defined_with_the_rule_for_ties():
    runs = [make_run("NN", settings={"ties": "expected"}), make_run("NN_TL")]
    assert "Where scores tie, scores of the best labels are means over all orders" in methods_of(runs[0])["Scores"]
    assert "the label that comes first in the table counts as the better one for NN_TL." in methods_of(*runs)["Scores"]


def test_scores_are_defined_with_the_rule_of_decisions_unless_all_are_the_learners_own():
    own, common = make_run(), make_run("NN_TL", settings={"decision": "prevalence"})
    assert "decided" not in methods_of(own)["Scores"]
    assert "Labels were decided where their probability is at least their prevalence" in methods_of(common)["Scores"]
    further = methods_of(make_run("NN", settings={"also_decide": ["half"]}))["Scores"]
    assert "itself. In scores of the rule half, labels were decided at a probability of one half." in further
    mixed = methods_of(own, common)["Scores"]
    assert "Labels were decided by each learner itself for NN." in mixed
    assert mixed.count("Labels were decided") == 2


def test_cost_states_the_meter_and_whether_it_estimates():
    assert (
        "Energy was estimated by codecarbon 3.3 (offline, CPU load x stated power)." in methods_of(make_run())["Cost"]
    )
    resources = make_run().resources
    metered = resources.model_copy(update={"energy_is_estimate": False, "energy_method": "codecarbon 3.3: RAPL"})
    unmetered = resources.model_copy(update={"energy_method": "none"})
    assert "Energy was measured by codecarbon 3.3: RAPL." in methods_of(make_run(resources=metered))["Cost"]
    assert "Energy was not measured." in methods_of(make_run(resources=unmetered))["Cost"]
    assert "Cost" not in methods_of(make_run(resources=None))


def test_software_lists_every_version():
    text = methods_of(make_run(), make_run("NN", 1, versions={"numpy": "2.5"}))["Software"]
    assert text.startswith(
        "The runs used mlstream 0.1.0, numpy 2.4.6 and 2.5 and python 3.11.9. Machine: cpu Example CPU"
    )


def test_the_comparison_is_described_where_there_is_one():
    assert "Comparison" not in methods_of(make_run())
    assert "Nemenyi test at level 0.05" in methods_of(make_run(), is_compared=True)["Comparison"]


def test_the_page_shows_the_words_escaped(tmp_path):
    write_campaign(tmp_path, strategies=("NN",))
    record = next((tmp_path / "runs").rglob("*seed0.json"))
    record.write_text(record.read_text().replace("Example CPU", "<b>CPU</b> & more"))
    page = report(tmp_path).read_text(encoding="utf-8")
    assert "<b>Protocol.</b> Streams were processed test-then-train" in page
    assert "Machine: cpu &lt;b&gt;CPU&lt;/b&gt; &amp; more" in page
    assert "<b>CPU</b>" not in page


def test_words_are_joined_as_in_a_sentence():
    assert [join_words(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
