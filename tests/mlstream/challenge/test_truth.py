"""Truth and manifest: written, read again, and refused where damaged."""

import hashlib

import numpy as np
import pytest

from mlstream.challenge.folder import OrganiserFolder
from mlstream.challenge.manifest import read_manifest, write_manifest
from mlstream.challenge.truth import Truth, format_keys, hash_keys, holdout_keys, read_truth, write_truth
from tests.mlstream.challenge.challenges import make_folder


def make_truth(n_rows=5):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (n_rows, 3)).astype(np.float32)
    labels[0, 0] = np.nan
    keys = rng.integers(0, 2**64, n_rows, dtype=np.uint64)
    return Truth(keys, labels, rng.random((n_rows, 3)) < 0.5)


def test_truth_is_read_as_it_was_written(tmp_path):
    truth = make_truth()
    write_truth(tmp_path / "00.npz", truth)
    for array, expected in zip(read_truth(tmp_path / "00.npz"), truth, strict=True):
        np.testing.assert_array_equal(array, expected)
        assert array.dtype == expected.dtype


@pytest.mark.parametrize("field", ["row_keys", "Y", "mask"])
def test_truth_of_other_types_or_shapes_is_refused(tmp_path, field):
    truth = make_truth()
    for wrong in (getattr(truth, field)[1:], getattr(truth, field).astype(np.float64)):
        with pytest.raises(ValueError, match=r"00\.npz must hold row_keys"):
            write_truth(tmp_path / "00.npz", truth._replace(**{field: wrong}))


def test_a_damaged_file_is_refused(tmp_path):
    write_truth(tmp_path / "00.npz", make_truth())
    content = (tmp_path / "00.npz").read_bytes()
    for damaged in (content[:-30], b"", b"PK\x03\x04" + content[:40], content.replace(b"mask", b"maks")):
        (tmp_path / "00.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match="must hold"):
            read_truth(tmp_path / "00.npz")


def test_row_ids_of_all_hidden_environments_are_sorted_and_compared_with_the_manifest(tmp_path):
    folder = make_folder(tmp_path / "org")
    manifest = read_manifest(folder.manifest)
    keys = holdout_keys(folder)
    files = [folder.path / one.file for one in manifest.environments if one.file]
    assert keys.tolist() == sorted(key for path in files for key in read_truth(path).row_keys.tolist())
    slow = hashlib.sha256(b"".join(key.to_bytes(8, "little") for key in keys.tolist())).hexdigest()
    assert hash_keys(keys[::-1]) == slow == manifest.holdout_sha256
    truth = read_truth(files[0])
    write_truth(files[0], truth._replace(row_keys=truth.row_keys + np.uint64(1)))
    with pytest.raises(ValueError, match="must hold the rows of"):
        holdout_keys(folder)


def test_row_ids_are_sixteen_hexadecimal_digits():
    assert format_keys(np.array([0, 2**64 - 1, 0xAB], np.uint64)) == ["0" * 16, "f" * 16, "00000000000000ab"]


def test_a_manifest_is_read_as_it_was_written_and_refused_in_one_line(tmp_path):
    folder = make_folder(tmp_path / "org")
    manifest = read_manifest(folder.manifest)
    write_manifest(tmp_path / "m.json", manifest)
    assert read_manifest(tmp_path / "m.json") == manifest
    text = (tmp_path / "m.json").read_text()
    for old, new in (('"truth/00.npz"', '"../truth/00.npz"'), ('"version": 1', '"version": 2'), ('"nce"', '"auc"')):
        assert old in text
        (tmp_path / "m.json").write_text(text.replace(old, new))
        with pytest.raises(ValueError, match=r"m\.json: .* must .*") as caught:
            read_manifest(tmp_path / "m.json")
        assert "\n" not in str(caught.value)
    assert OrganiserFolder(tmp_path / "org").truth.is_dir()
