"""The hash of a learner's source changes with what it runs, and with nothing else."""

import importlib
import sys

import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from estimators import BinaryRelevance, PrevalenceThreshold, make_strategy
from mlstream.arena import learner_source
from mlstream.arena.learner_source import hash_source

LEARNER = '''
"""A learner."""
import numpy
from helper_of_mine import slope  # a helper
from sklearn.naive_bayes import GaussianNB


class Mine(GaussianNB):
    """Learns."""

    def steep(self):
        """Return a number."""
        return slope() * 2
'''
HELPER = "def slope():\n    return 3\n"


@pytest.fixture
def hash_of(tmp_path, monkeypatch):
    """Return the hash of the learner `Mine`, its files written anew."""
    monkeypatch.syspath_prepend(tmp_path)

    def write_and_hash(learner=LEARNER, helper=HELPER, other="x = 1\n"):
        for name, text in (("mine", learner), ("helper_of_mine", helper), ("other", other)):
            (tmp_path / f"{name}.py").write_text(text)
            sys.modules.pop(name, None)
        for cached in (
            learner_source._closure,
            learner_source._imports,
            learner_source._parse,
            learner_source._normalised,
        ):
            cached.cache_clear()
        importlib.invalidate_caches()
        return hash_source(importlib.import_module("mine").Mine())

    yield write_and_hash
    for name in ("mine", "helper_of_mine", "other"):
        sys.modules.pop(name, None)


def test_code_counts_and_that_of_what_it_imports(hash_of):
    plain = hash_of()
    assert hash_of(LEARNER.replace("* 2", "* 4")) != plain
    assert hash_of(helper="def slope():\n    return 4\n") != plain


def test_comments_docstrings_empty_lines_and_other_modules_do_not_count(hash_of):
    plain = hash_of()
    commented = LEARNER.replace('"""Learns."""', '"""Learns much,\n    and fast.\n    """').replace(
        "import numpy\n", "\n# why\nimport numpy\n"
    )
    assert hash_of(commented) == plain
    assert hash_of(other="x = 2\n") == plain


def test_learners_inside_count_and_installed_ones_do_not():
    inside = [
        hash_source(BinaryRelevance(one))
        for one in (make_strategy("NN"), make_strategy("BR_LR"), GaussianNB(), SGDClassifier())
    ]
    assert len(set(inside)) == 3
    assert hash_source(PrevalenceThreshold(make_strategy("NN"))) != hash_source(
        PrevalenceThreshold(make_strategy("MLHAT"))
    )


def test_a_class_without_a_file_is_refused():
    typed = type("Typed", (), {"__module__": "__main__"})
    with pytest.raises(ValueError, match=r"save Typed in a module, such as my_module\.py"):
        hash_source(typed())
