"""The command iirc and the command carve pass every option on."""

import json
from itertools import chain

import pytest

from mlstream.generators import published_order
from tests.loops import check_all
from tests.mlstream.cli.commands import invoke, make, write_table

# bear, polar bear, brown bear, dog
ZOO = {"label_names": ("bear", "bear.polar", "bear.brown", "dog"), "label_sets": ("1100", "1010", "0001")}


@pytest.fixture
def zoo(tmp_path):
    return write_table(tmp_path / "zoo.arff", **ZOO)


@pytest.mark.parametrize("rule", [(), ("--hierarchy", "names"), ("--hierarchy", "discover", "--min-support", 2)])
def test_iirc_finds_a_hierarchy(rule, zoo, tmp_path):
    stream = make("iirc", zoo, *rule, "--first-labels", 1, "--labels-per-task", 2, output=tmp_path / "s.npz")
    assert stream.card.label_parents == {"bear.polar": "bear", "bear.brown": "bear"}
    assert stream.card.tasks[0].signature == [0]


def test_iirc_takes_a_hierarchy_from_a_file(zoo, tmp_path):
    parents = tmp_path / "parents.json"
    parents.write_text(json.dumps({"bear.polar": "bear"}))
    options = ("--hierarchy", parents, "--information", "complete", "--superclass-share", 0.5, "--seed", 4)
    stream = make("iirc", zoo, *options, output=tmp_path / "s.npz")
    assert stream.card.label_parents == {"bear.polar": "bear"}
    generator = stream.card.generator
    assert (generator.seed, generator.parameters["superclass_share"]) == (4, 0.5)
    assert generator.parameters["information"] == "complete"


def test_iirc_takes_an_order_from_a_file(zoo, tmp_path):
    order = tmp_path / "order.json"
    order.write_text(json.dumps([["bear", "dog"], ["bear.brown"], ["bear.polar"]]))
    stream = make("iirc", zoo, "--introductions", order, "--plain-first", output=tmp_path / "s.npz")
    assert [part.label_mask.nonzero()[0].tolist() for part in stream] == [[0, 3], [2], [1]]


def test_iirc_takes_a_published_order(tmp_path):
    order = published_order("iirc-cifar100", 4)
    names = sorted(set(chain.from_iterable(order["introductions"])) - set(order["hierarchy"].values()))
    label_sets = [f"{1 << place:0100b}" for place in reversed(range(100))]
    table = write_table(tmp_path / "cifar.arff", label_names=names, label_sets=label_sets)
    stream = make("iirc", table, "--labels", 100, "--introductions", "iirc-cifar100:4", output=tmp_path / "s.npz")
    assert stream.card.generator.parameters["introductions"] == order["introductions"]


@pytest.mark.parametrize(
    ("by", "roles"), [("features", "train,test"), ("column", "train,train,unseen"), ("time", "train,validation,unseen")]
)
def test_environments_are_carved_with_roles(by, roles, zoo, tmp_path):
    column = {"column": ("--column", "x"), "time": ("--column", "t")}.get(by, ())
    stream = make("carve", zoo, "--by", by, *column, "--roles", roles, output=tmp_path / "s.npz")
    assert stream.card.scenario.name == "environments"
    assert sorted(task.name.split("-")[0] for task in stream.tasks) == sorted(roles.split(","))


def test_what_is_wrong_is_named_and_nothing_is_written(zoo, tmp_path):
    def check(case):
        number, (arguments, message) = case
        folder = tmp_path / str(number)
        folder.mkdir()
        files = {
            "CYCLE": {"dog": "bear", "bear": "dog"},
            "UNKNOWN": {"cat": "bear"},
            "LIST": ["bear"],
            "EARLY": [["bear.polar"], ["bear"]],
        }
        for name, content in files.items():
            (folder / f"{name}.json").write_text(json.dumps(content))
        places = {"ZOO": zoo} | {name: folder / f"{name}.json" for name in files}
        result = invoke(*(places.get(argument, argument) for argument in arguments), "-o", folder / "s.npz")
        assert result.exit_code == 1
        with pytest.raises(ValueError, match=message):
            raise result.exception
        assert not (folder / "s.npz").exists()

    check_all(
        enumerate(
            [
                (
                    ("iirc", "ZOO", "--hierarchy", "guess"),
                    "--hierarchy must be one of 'names', 'discover'. Got 'guess'",
                ),
                (("iirc", "ZOO", "--hierarchy", "CYCLE"), "must have no cycle. Got dog -> bear -> dog"),
                (("iirc", "ZOO", "--hierarchy", "UNKNOWN"), "must name labels of the table. Got 'cat'"),
                (("iirc", "ZOO", "--hierarchy", "LIST"), "must hold a JSON object of names"),
                (
                    ("iirc", "ZOO", "--introductions", "EARLY"),
                    "superclasses only. Got 'bear.polar', a subclass of 'bear'",
                ),
                (("iirc", "ZOO", "--introductions", "UNKNOWN"), "must hold a JSON list of lists"),
                (
                    ("iirc", "ZOO", "--introductions", "iirc-cifar:1"),
                    "--introductions must be one of 'iirc-cifar100', .* Got 'iirc-cifar'",
                ),
                (
                    ("iirc", "ZOO", "--introductions", "iirc-cifar100:99"),
                    "the number in --introductions must be from 0 to 9",
                ),
                (
                    ("iirc", "ZOO", "--introductions", "iirc-cifar100:x"),
                    "must be a .json file, or NAME:NUMBER. Got 'iirc-cifar",
                ),
                (("iirc", "ZOO", "--introductions", "iirc-cifar100:1"), "must name labels of the table"),
                (("iirc", "ZOO", "--superclass-share", 1.5), r"--superclass-share must lie in \[0, 1\]. Got 1.5"),
                (("iirc", "ZOO", "--evaluation", 0.01), "rows to learn and to evaluate"),
                (("carve", "ZOO", "--roles", "train,judge"), "--roles must be of train, .* Got 'judge'"),
                (("carve", "ZOO", "--roles", "test,unseen"), "must have the role 'train'"),
                (("carve", "ZOO", "--roles", "train,test", "--by", "column"), "--column must be a feature of zoo"),
            ]
        ),
        check,
    )


@pytest.mark.parametrize("command", ["iirc", "carve"])
def test_a_file_that_is_there_stays_unless_forced(command, zoo, tmp_path):
    output = tmp_path / "there.npz"
    output.write_text("mine")
    assert isinstance(invoke(command, zoo, "-o", output).exception, FileExistsError)
    assert output.read_text() == "mine"
    options = ("--roles", "train,test") if command == "carve" else ()
    make(command, zoo, *options, "--force", output=output)
