"""A name gives a fresh learner, its grid can be searched, and what is unknown is named."""

import re
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from estimators.interop.river import RiverClassifier
from estimators.strategies import STRATEGIES, grid, make_strategy
from tests.estimators.instances import HERE
from tests.loops import check_all

RNG = np.random.default_rng(0)
X, Y = RNG.random((30, 3)), RNG.integers(0, 2, (30, 2))

# The sizes of the grids of the paper's section on strategies, counted by hand from its table, and of those added.
N_CONFIGURATIONS = {
    "NN": 3,
    "NN_TL": 3,
    "NN_TLH": 3 * 2,
    "NN_TLH_sampling": 3 * 2 * 2 * 2,
    "NN_TLH_fifo": 3 * 2 * 2 * 2,
    "NN_TLH_memories": 3 * 2 * 4 * 4,
    "NN_TLH_mini_memories": 3 * 2 * 4 * 4,
    "EWC": 3 * 2 * 4,
    "LwF": 3 * 2 * 4,
    "GDumb": 3 * 2 * 2 * 2,
    "PRS": 3 * 2 * 2 * 2,
    "OCDM": 3 * 2 * 2 * 2,
    "DERpp": 3 * 2 * 2 * 2,
    "A-GEM": 3 * 2 * 2 * 2,
    "BR_HT": 2 * 2 * 2,
    "BR_HAT": 2 * 2 * 2,
    "BR_EFDT": 2 * 2 * 2,
    "LC_HT": 2 * 2 * 2,
    "CC_HT": 2 * 2 * 2,
    "BR_random_forest": 3 * 2 * 2 * 2,
    "iSOUPtree": 2 * 2 * 2,
    "MLSAMPkNN": 3 * 2,
    "MLSAkNN": 3,
    "AESAKNNS": 3 * 2,
    "BR_LR": 3,
    "ABALR": 3 * 2,
    "ABOLR": 3 * 2,
    "OCB": 2 * 2 * 2,
    "MLHAT": 2 * 2 * 2,
    "StreamRidge": 3 * 2,
    "RollingForest": 2 * 2,
    "Stack": 1,
    "ContextWindow": 3 * 3,
    "GOOWE_ML": 2 * 2 * 2,
    "ERM": 3,
    "IRM": 6,
    "V-REx": 6,
    "GroupDRO": 3,
    "last_class": 1,
    "no_features": 1,
    "prior_distribution": 1,
    "mean": 1,
    "1NN": 4 * (1 + 2),
    "window_random_forest": 2 * 2,
    "window_gradient_boosting": 3 * 2,
    "window_logistic": 4,
    "window_LightGBM": 3 * 2,
    "BR_SGD": 3,
    "BR_PA": 3,
    "River_HT": 2 * 2 * 2,
    "River_ARF": 2 * 2,
}


def test_a_strategy_learns_and_can_be_cloned():
    def check(name):
        learner = make_strategy(name)
        assert repr(clone(learner)) == repr(learner)
        Y_pred, Y_proba = learner.predict_then_fit(X, Y)
        assert Y_pred.shape == Y_proba.shape == Y.shape

    check_all(HERE, check)


def river_parameters(learner):
    """Return the parameters of a model of River, whose ensembles do not print theirs."""
    return learner.model._get_params() if isinstance(learner, RiverClassifier) else {}


def test_every_configuration_of_a_grid_can_be_made():
    def check(name):
        configurations = list(ParameterGrid(grid(name)))
        assert len(configurations) == N_CONFIGURATIONS[name]
        made = [make_strategy(name, **configuration) for configuration in configurations]
        assert len({str([learner.get_params(), river_parameters(learner)]) for learner in made}) == len(made)

    check_all(HERE, check)


def can_grow(name):
    return make_strategy(name)._can_grow()


def test_most_strategies_can_learn_new_labels():
    invariant = {"ERM", "IRM", "V-REx", "GroupDRO"}
    whole = {"LC_HT", "MLHAT", "iSOUPtree", "GOOWE_ML", "window_random_forest", "River_HT", "River_ARF"} | invariant
    assert {name for name in HERE if not can_grow(name)} == whole


def test_a_strategy_learns_new_labels_or_refuses_to_be_made_so():
    def check(name):
        if not can_grow(name):
            with pytest.raises(
                ValueError, match=rf"must be 'error' for {name}\. Got 'grow' instead; NN, .* can grow\."
            ):
                make_strategy(name, on_new_labels="grow")
            return
        learner = make_strategy(name, on_new_labels="grow")
        learner.partial_fit(X, Y)
        assert learner.partial_fit(X, np.hstack([Y, Y])).predict(X).shape == (30, 4)

    check_all(HERE, check)


def test_what_to_do_with_new_labels_is_checked():
    with pytest.raises(ValueError, match="on_new_labels must be one of 'error', 'grow'"):
        make_strategy("NN", on_new_labels="maybe")


def test_two_calls_share_nothing():
    first, second = make_strategy("mean"), make_strategy("mean")
    first.fit(X, Y)
    assert not hasattr(second, "classes_")


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"Got 'BR_TH' instead; did you mean 'BR_HT'\?"):
        make_strategy("BR_TH")


def test_an_unknown_parameter_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match=r"among \['delta', 'grace_period', 'tau'\]. Got 'depth' instead"):
        make_strategy("BR_HT", depth=3)


def test_any_parameter_of_the_learner_can_be_set():
    def check(name):
        for parameter, value in make_strategy(name).get_params().items():
            if parameter != "on_new_labels":
                other = object()
                assert make_strategy(name, **{parameter: other}).get_params()[parameter] is other, (parameter, value)

    check_all(HERE, check)


def test_a_seed_is_accepted_by_every_name_and_reaches_those_that_draw():
    def check(name):
        seeded, same, plain = (
            make_strategy(name, random_state=7),
            make_strategy(name, random_state=7),
            make_strategy(name),
        )
        assert type(seeded) is type(plain)
        assert seeded.get_params().get("random_state", 7) == 7
        for ours, theirs in zip(seeded.predict_then_fit(X, Y), same.predict_then_fit(X, Y), strict=True):
            np.testing.assert_array_equal(ours, theirs)

    check_all(HERE, check)


@pytest.mark.parametrize("name", ["mean", "1NN", "NN"])
def test_a_seed_is_checked_where_nothing_is_drawn_too(name):
    with pytest.raises(ValueError, match=r"random_state|seed"):
        make_strategy(name, random_state="one").fit(X, Y)


def test_a_strategy_without_parameters_still_names_the_seed():
    with pytest.raises(ValueError, match=r"last_class must have no parameter but random_state\. Got 'window'"):
        make_strategy("last_class", window=3)


def test_parameters_of_a_strategy_and_of_its_learner_go_together():
    given = make_strategy("NN_TLH_fifo", hidden_units=50, fifo_size=7, random_state=3, fifo__draws=2)
    assert given.get_params()["random_state"] == 3
    assert (given.hidden_units, given.fifo.size, given.fifo.draws) == (50, 7, 2)
    assert make_strategy("BR_HT", tau=0.2, estimator__max_depth=3).estimator.max_depth == 3
    message = r"NN must have parameters among \['learning_rate'\]. Got 'seed' instead; .* also has .*, random_state, "
    with pytest.raises(ValueError, match=message):
        make_strategy("NN", seed=3)


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [("window_LightGBM", "lightgbm", "'mlstream-toolkit[lightgbm]'"), ("River_HT", "river.tree", "river")],
)
def test_a_strategy_without_its_package_says_what_to_install(name, module, package, monkeypatch):
    for absent in (STRATEGIES[name].package, module):
        monkeypatch.setitem(sys.modules, absent, None)
    assert STRATEGIES[name].to_install == package
    message = rf"The strategy {name} needs the module {STRATEGIES[name].package}: pip install {re.escape(package)}\."
    with pytest.raises(ModuleNotFoundError, match=message):
        make_strategy(name)
    with pytest.raises(ValueError, match=r"'grow' instead; NN, .*window_logistic.* can grow"):
        make_strategy("LC_HT", on_new_labels="grow")
