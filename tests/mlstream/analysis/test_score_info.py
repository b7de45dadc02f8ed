import metrics
from mlstream.analysis.score_info import SCORE_HEADINGS, score_heading
from tests.loops import check_all

FUNCTIONS = {name: name for name in ("ba_macro", "precision_at_k", "rmse", "acc", "bwt", "fwt", "fm")}
FUNCTIONS |= {"frug_kwh": "frug", "frug_kj": "frug"}
FUNCTIONS |= {"im": "intransigence", "hamming_loss": "hamming_loss", "subset_accuracy": "subset_accuracy"}


def test_directions_are_those_that_the_functions_document():
    def check(case):
        name, function = case
        summary = getattr(metrics, function).__doc__.splitlines()[0]
        assert f"{score_heading(name).better} is better" in summary

    check_all(FUNCTIONS.items(), check)


def test_every_score_says_what_it_is():
    assert all(one.title and one.meaning for one in SCORE_HEADINGS.values())
    assert len({one.title for one in SCORE_HEADINGS.values()}) == len(SCORE_HEADINGS)


def test_scores_under_a_further_rule_say_which():
    plain, ruled = score_heading("subset_accuracy_held_out"), score_heading("subset_accuracy_held_out[half]")
    assert ruled.title == f"{plain.title}, half"
    assert (ruled.better, ruled.meaning) == (plain.better, f"{plain.meaning} Decided at a probability of one half.")
    assert score_heading("nce[half]").title == "NCE, half"


def test_a_score_that_is_not_known_claims_no_direction():
    assert score_heading("house_price") == score_heading("house_price")
    assert (score_heading("house_price").title, score_heading("house_price").better) == ("house_price", "neither")
