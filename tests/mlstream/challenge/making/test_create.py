"""What a challenge hides, what it publishes, and that one leads nowhere to the other."""

import csv
import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import read_table
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

from mlstream import load, load_card, task_stream
from mlstream.challenge.making.create import advise, create_challenge, verify_challenge
from mlstream.challenge.making.environments import gather_environments
from mlstream.challenge.making.hiding import hide_features, key_rows
from mlstream.challenge.predicting import read_bundle
from mlstream.challenge.truth import format_keys, read_truth
from mlstream.generators.from_tables.environments_from_table import carve_environments
from mlstream.generators.synthetic.environments import environment_stream
from mlstream.streams.stream import Dataset, Stream, StreamParts

SALT = bytes(range(32))
TIME = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
RULES = 'name = "Toy"\nmin_rows = 50\n'


def clock():
    return TIME


def make(folder, stream, rules=RULES, **options):
    (folder / "challenge.toml").write_text(rules)
    organiser, bundle = folder / "organiser", folder / "bundle"
    manifest = create_challenge(stream, folder / "challenge.toml", organiser, bundle, clock=clock, salt=SALT, **options)
    return organiser, bundle, manifest


@pytest.fixture(scope="module")
def stream():
    return environment_stream(n_rows=60, seed=7, n_labels=2)


@pytest.fixture(scope="module")
def challenge(tmp_path_factory, stream):
    return make(tmp_path_factory.mktemp("challenge"), stream)


def test_no_key_is_anywhere_in_a_bundle(tmp_path, stream):
    n_rows = 1 + max(int(part.row_ids.max()) for part in (*stream.experiences, *stream.evaluation_sets))
    keys = np.array([(f"secret-{row}",) for row in range(n_rows)], [("person", "<U12")])
    parts = StreamParts(stream.tasks, stream.experiences, stream.evaluation_sets).with_keys(keys)
    keyed = Stream(parts, stream.card.model_copy(update={"keys": ["person"]}))
    _, bundle, _ = make(tmp_path, keyed)
    for path in bundle.iterdir():
        content = str(read_table(path).to_pydict()).encode() if path.suffix == ".parquet" else path.read_bytes()
        assert not [
            word for word in (b"secret", b"person") for text in (content, content.replace(b"\0", b"")) if word in text
        ]
    assert {path.name for path in bundle.iterdir()} >= {"train.npz", "train.parquet", "train.csv", "train.arff"}


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def all_rows(stream, name):
    """Return X and Y of a task by a loop over every part of the stream."""
    task = [one.name for one in stream.tasks].index(name)
    rows = [(x, y) for part in stream for t, x, y in zip(part.task_ids, part.X, part.Y, strict=True) if t == task]
    held_out = stream.evaluation_sets[task]
    return rows + list(zip(held_out.X, held_out.Y, strict=True))


def test_all_environments_are_there_with_their_rows_and_roles(stream, challenge):
    _, _, manifest = challenge
    assert {one.name: one.role for one in manifest.environments} == {
        task.name: role for task, role in zip(stream.tasks, stream.card.scenario.task_roles, strict=True)
    }
    assert [one.n_rows for one in manifest.environments] == [60] * 12
    assert manifest.created == TIME


def test_truth_and_bundle_together_are_the_rows_of_the_stream(stream, challenge):
    """Undo renaming and coding by looking up each hidden row by its key: label sets by features stay as they were."""
    organiser, bundle, manifest = challenge
    holdout = {row["row_id"]: tuple(row.values())[1:] for row in read_csv(bundle / "holdout.csv")}
    for entry in manifest.environments:
        if entry.file is None:
            continue
        truth = read_truth(organiser / entry.file)
        expected = sorted(tuple(y.tolist()) for _, y in all_rows(stream, entry.name))
        assert sorted(tuple(y.tolist()) for y in truth.Y) == expected
        published = [holdout[key] for key in format_keys(truth.row_keys)]
        # Equal rows stay equal, different ones different: the same partition of rows, coded otherwise.
        pairs = {(tuple(x.tolist()), shown) for x, shown in zip(_own_order(stream, entry.name), published, strict=True)}
        assert len(pairs) == len({x for x, _ in pairs}) == len({shown for _, shown in pairs})


def _own_order(stream, name):
    return [x for x, _ in all_rows(stream, name)]


def test_training_rows_are_those_of_the_training_environments(stream, challenge):
    _, bundle, manifest = challenge
    rows = read_csv(bundle / "train.csv")
    for entry in manifest.environments:
        if entry.role == "train":
            number = entry.public_name.removeprefix("train-")
            got = sorted((int(row["y0"]), int(row["y1"])) for row in rows if float(row["environment"]) == int(number))
            assert got == sorted(tuple(y.tolist()) for _, y in all_rows(stream, entry.name))


def test_formats_of_the_bundle_hold_the_same_rows(challenge):
    from pyarrow import parquet
    from scipy.io import arff

    _, bundle, _ = challenge
    with np.load(bundle / "holdout.npz", allow_pickle=False) as archive:
        ids, X = archive["row_id"].tolist(), archive["X"]
    text = read_csv(bundle / "holdout.csv")
    assert [row["row_id"] for row in text] == ids == sorted(ids)
    assert np.array_equal([[float(cell) for cell in list(row.values())[1:]] for row in text], X)
    assert np.array_equal(np.array(arff.loadarff(bundle / "holdout.arff")[0].tolist()), X)
    table = parquet.read_table(bundle / "holdout.parquet")
    assert table["row_id"].to_pylist() == ids
    assert np.array_equal(np.column_stack([table[name] for name in table.column_names[1:]]), X)
    with np.load(bundle / "train.npz", allow_pickle=False) as archive:
        train = np.column_stack([archive["Y"], archive["environment"], archive["X"]])
    assert np.array_equal([[float(cell) for cell in row.values()] for row in read_csv(bundle / "train.csv")], train)
    names = parquet.read_table(bundle / "train.parquet")
    assert np.array_equal(np.column_stack([names[name] for name in names.column_names]), train)


def test_the_public_card_makes_no_stream_again_and_tells_nothing_of_hidden_environments(stream, challenge):
    _, bundle, _ = challenge
    with pytest.raises(ValueError, match="StreamCard"):
        load_card(bundle / "card.public.json")
    card = json.loads((bundle / "card.public.json").read_text())
    assert not {"generator", "seed", "parameters", "tasks", "drifts", "drops", "data_sha256", "files"} & card.keys()
    assert [one["number"] for one in card["environments"]] == [1, 2, 3]
    everything = b"".join(path.read_bytes() for path in sorted(bundle.iterdir()) if path.suffix != ".py")
    for word in (b"unseen-", b"validation-0", b"test-0", b"invariant-", b"spurious", b"seed"):
        assert word not in everything


def test_categories_that_a_stream_declares_are_those_of_the_challenge_and_their_words_stay_hidden(tmp_path, stream):
    declared = {"invariant-0": tuple(f"word {number}" for number in range(9))}
    _, bundle, _ = make(tmp_path, stream.with_card(stream.card.model_copy(update={"feature_values": declared})))
    features = json.loads((bundle / "card.public.json").read_text())["features"]
    assert [feature["categories"] is None for feature in features].count(False) == 1
    assert not any(b"word 0" in path.read_bytes() for path in bundle.iterdir())


def test_no_secret_and_no_base_rate_of_a_hidden_environment_is_in_the_bundle(challenge):
    organiser, bundle, manifest = challenge
    assert verify_challenge(organiser, bundle) == []
    texts = "".join(path.read_text() for path in (bundle / "RULES.md", bundle / "card.public.json"))
    for entry in manifest.environments:
        if entry.file is not None:
            for rate in read_truth(organiser / entry.file).Y.mean(axis=0):
                assert f"{rate:.3f}"[1:] not in texts
    assert SALT not in b"".join(path.read_bytes() for path in bundle.iterdir())


def test_hidden_rows_are_in_the_order_of_their_keys_whatever_their_environment(challenge):
    organiser, _, manifest = challenge
    keys = [read_truth(organiser / one.file).row_keys for one in manifest.environments if one.file]
    order = np.argsort(np.concatenate(keys))
    environment = np.repeat(np.arange(len(keys)), [len(one) for one in keys])[order]
    # A run of rows of one environment would tell it: by chance, runs of nine environments are short.
    changes = (environment[1:] != environment[:-1]).mean()
    assert changes > 0.8


def test_another_salt_leads_to_other_names_of_rows_columns_and_categories(stream):
    X = [part.X for part in stream]
    one, other = (hide_features(salt, X, None) for salt in (SALT, SALT[::-1]))
    assert not np.array_equal(one.apply(X[0]), other.apply(X[0]))
    rows = np.arange(1000)
    assert not np.isin(key_rows(SALT, rows), key_rows(SALT[::-1], rows)).any()


@given(st.integers(0, 2**64 - 1), st.integers(2, 40))
def test_coding_again_keeps_equal_what_was_equal_in_all_environments(seed, n_values):
    rng = np.random.default_rng(seed)
    X = [rng.integers(0, n_values, (30, 3)).astype(float) for _ in range(3)]
    hiding = hide_features(SALT, X, None)
    before, after = np.concatenate(X)[:, hiding.order], np.concatenate([hiding.apply(part) for part in X])
    for column, coded in zip(before.T, after.T, strict=True):
        pairs = set(zip(column.tolist(), coded.tolist(), strict=True))
        assert len(pairs) == len(set(column.tolist())) == len(set(coded.tolist()))


def test_sparse_features_stay_sparse_and_keep_their_values():
    X = sparse.random_array((40, 9), density=0.2, format="csr", rng=np.random.default_rng(0))
    hiding = hide_features(SALT, [X], None)
    assert sparse.issparse(hiding.apply(X))
    assert np.array_equal(hiding.apply(X).toarray(), X.toarray()[:, hiding.order])


def test_organisers_folder_is_closed_to_others_and_verify_says_so(tmp_path, stream):
    organiser, bundle, _ = make(tmp_path, stream)
    assert stat.S_IMODE(organiser.stat().st_mode) == 0o700
    organiser.chmod(0o755)
    with pytest.raises(PermissionError, match="chmod 700"):
        verify_challenge(organiser, bundle)


def test_verify_passes_over_what_is_no_file_and_says_that_it_does_not_belong(tmp_path, stream):
    organiser, bundle, _ = make(tmp_path, stream)
    (bundle / "folder").mkdir()
    os.mkfifo(bundle / "pipe")
    assert verify_challenge(organiser, bundle) == [
        f"{bundle / name} does not belong to the bundle" for name in ("folder", "pipe")
    ]


def test_verify_lists_what_has_changed(tmp_path, stream):
    organiser, bundle, manifest = make(tmp_path, stream)
    with (bundle / "holdout.csv").open("a") as file:
        file.write("0000000000000000,1,1,1,1,1\n")
    (bundle / "more.txt").write_text("")
    first, second = [organiser / entry.file for entry in manifest.environments if entry.file][:2]
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    found = verify_challenge(organiser, bundle)
    assert any("holdout.csv" in one for one in found)
    assert any("more.txt" in one for one in found)
    assert any(first.name in one for one in found)
    first.write_bytes(content)
    assert not any("truth" in one for one in verify_challenge(organiser))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ('name = "x"\n', "min_rows"),
        (
            'name = "x"\nmin_rows = 9\n[roles]\ntrain=["train-0"]\nvalidation=["nobody"]\ntest=["test-0"]\nunseen=[]',
            "nobody",
        ),
        ('name = "x"\nmin_rows = 9\ncategorical = ["nothing"]\n', "nothing"),
        ('name = "x"\nmin_rows = "9"\n', "min_rows"),
    ],
)
def test_rules_that_do_not_fit_are_refused_and_nothing_is_written(tmp_path, stream, rules, words):
    with pytest.raises(ValueError, match=words):
        make(tmp_path, stream, rules)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["challenge.toml"]


def test_folders_inside_each_other_are_refused(tmp_path, stream):
    (tmp_path / "challenge.toml").write_text(RULES)
    with pytest.raises(ValueError, match="apart"):
        create_challenge(
            stream, tmp_path / "challenge.toml", tmp_path / "a", tmp_path / "a" / "b", clock=clock, salt=SALT
        )


def test_a_label_of_one_class_in_a_hidden_environment_is_scored_nowhere(tmp_path):
    stream = environment_stream(n_rows=60, seed=7, n_labels=3)
    unseen = [task.name for task in stream.tasks].index("unseen-0")
    stream.evaluation_sets[unseen].Y[:, 1] = 0
    _, bundle, manifest = make(tmp_path, stream)
    assert manifest.scored_labels == [0, 2]
    assert read_csv(bundle / "sample_submission.csv")[0].keys() == {"row_id", "y0", "y2"}
    assert "y1" not in (bundle / "RULES.md").read_text()


def test_a_metric_by_which_all_submissions_are_equal_is_refused(tmp_path):
    stream = environment_stream(n_rows=60, seed=7)
    with pytest.raises(ValueError, match="k must be less than the number of scored labels"):
        make(tmp_path, stream, RULES + 'metric = "precision_at_k"\n')


def test_without_a_label_of_both_classes_there_is_no_challenge(tmp_path):
    stream = environment_stream(n_rows=60, seed=7)
    stream.evaluation_sets[5].Y[:] = 1
    with pytest.raises(ValueError, match="present in some rows and absent in others"):
        make(tmp_path, stream)


def test_rows_with_the_features_of_a_training_row_are_counted_or_removed(tmp_path, stream):
    learnt = {tuple(x.tolist()) for role, name in _roles(stream) if role == "train" for x, _ in all_rows(stream, name)}
    hidden = [x for role, name in _roles(stream) if role != "train" for x, _ in all_rows(stream, name)]
    expected = sum(tuple(x.tolist()) in learnt for x in hidden)
    (tmp_path / "kept").mkdir()
    (tmp_path / "removed").mkdir()
    _, _, manifest = make(tmp_path / "kept", stream)
    assert (manifest.n_identical_rows, manifest.dropped_rows) == (expected, 0)
    numeric = environment_stream(n_rows=60, seed=7, encoding="numeric")
    _, _, manifest = make(tmp_path / "removed", numeric, RULES + "remove_duplicate_rows = true\n")
    assert (manifest.n_identical_rows, manifest.dropped_rows) == (0, 0)


def _roles(stream):
    return list(zip(stream.card.scenario.task_roles, [task.name for task in stream.tasks], strict=True))


def test_what_an_organiser_should_know_is_listed(stream, challenge):
    _, _, manifest = challenge
    advice = advise(stream, manifest)
    assert any("seed" in one for one in advice)
    assert any("remove_duplicate_rows" in one for one in advice)
    secret = environment_stream(n_rows=60, seed=2**50, encoding="numeric")
    assert advise(secret, manifest.model_copy(update={"n_identical_rows": 0})) == []


@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_array])
def test_a_feature_that_tells_hidden_environments_apart_is_named_and_can_be_left_out(tmp_path, as_stored):
    X, Y = make_multilabel_classification(500, n_features=3, n_classes=2, random_state=0)
    X[:, 1] = np.arange(500) // 100
    table = Dataset(as_stored(X), Y, ("a", "town", "c"), ("y", "z"), "toy")
    roles = ("train", "train", "validation", "test", "unseen")
    stream = carve_environments(table, roles, by="column", column="town")
    (line,) = advise(stream, make(tmp_path, stream)[2])
    assert "'town'" in line
    (tmp_path / "without").mkdir()
    rule = line.removesuffix(" in challenge.toml leaves such features out.").partition("apart. ")[2]
    organiser, bundle, manifest = make(tmp_path / "without", stream, f'{RULES}categorical = "none"\n{rule}')
    assert (manifest.telling_features, manifest.n_features) == ([], 2)
    # Rows that differ in what was left out are the same to contestants.
    learnt = {tuple(row) for row in X[:200, [0, 2]].tolist()}
    assert manifest.n_identical_rows == sum(tuple(row) in learnt for row in X[200:, [0, 2]].tolist()) > 0
    found = read_bundle(bundle).X_hidden
    values = (found.toarray() if sparse.issparse(found) else found).tolist()
    assert sorted(map(sorted, values)) == sorted(map(sorted, X[200:, [0, 2]].tolist()))
    assert verify_challenge(organiser, bundle) == []


@pytest.mark.parametrize(
    ("names", "message"), [('["x9"]', "leave_out must name features of the stream. Got 'x9'"), (None, "must leave a")]
)
def test_what_is_left_out_are_some_features_of_the_stream(tmp_path, stream, names, message):
    chosen = names or json.dumps(list(stream.card.feature_names))
    with pytest.raises(ValueError, match=message):
        make(tmp_path, stream, f"{RULES}leave_out = {chosen}\n")


def test_held_out_rows_of_training_environments_are_hidden_where_they_are_scored(tmp_path, stream):
    _, _, manifest = make(tmp_path, stream, "in_distribution_score = true\n" + RULES.replace("50", "10"))
    entries = {
        role: [one for one in manifest.environments if one.role == role] for role in ("train", "in-distribution")
    }
    assert [one.n_rows for one in entries["train"]] == [42] * 3
    assert [one.n_rows for one in entries["in-distribution"]] == [18] * 3


def test_a_row_of_several_tasks_stays_where_it_is_hidden_most():
    X, Y = make_multilabel_classification(60, n_features=4, n_classes=3, random_state=0)
    table = Dataset(X, Y, tuple("abcd"), tuple("xyz"), "toy")
    stream = task_stream(table, n_tasks=2, seed=0)
    first, second = (task.name for task in stream.tasks)
    found = gather_environments(stream, {first: "train", second: "test"})
    train, test = ({*one.row_ids.tolist()} for one in found)
    assert not train & test


@pytest.mark.slow
def test_the_baselines_run_on_a_copy_of_the_bundle_alone(tmp_path, challenge):
    _, bundle, manifest = challenge
    for method in ("base-rate", "logistic", "per-environment"):
        target = tmp_path / f"{method}.csv"
        subprocess.run(
            [sys.executable, "-P", bundle / "baseline.py", "--method", method, "--output", target],
            check=True,
            capture_output=True,
            cwd=tmp_path,
        )
        rows = read_csv(target)
        assert [row["row_id"] for row in rows] == [row["row_id"] for row in read_csv(bundle / "holdout.csv")]
        assert all(0 < float(row[name]) < 1 for row in rows for name in manifest.scored_names)


@pytest.mark.slow
def test_a_carved_table_with_several_labels_makes_a_challenge(tmp_path):
    X, Y = make_multilabel_classification(600, n_features=6, n_classes=4, random_state=1)
    table = Dataset(X, Y, tuple("abcdef"), ("l1", "l,2", "=l3", "l 4"), "toy")
    stream = carve_environments(table, ("train", "train", "validation", "test", "unseen"), seed=0)
    organiser, bundle, manifest = make(tmp_path, stream, RULES.replace("50", "20"))
    assert verify_challenge(organiser, bundle) == []
    assert load(organiser / "stream.npz").card.name == stream.card.name
    assert Path(bundle / "train.arff").read_text().startswith("@relation")
    assert len(manifest.scored_names) >= 1
