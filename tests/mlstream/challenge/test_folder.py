"""The organiser's folder is private, and lies apart from what is public."""

import pytest

from mlstream.challenge.folder import make_private, require_apart, require_private


def test_a_folder_that_others_may_enter_is_refused_with_the_way_out(tmp_path):
    make_private(tmp_path / "org")
    require_private(tmp_path / "org")
    (tmp_path / "org").chmod(0o750)
    # Whoever names another folder by mistake must not close that one to its readers.
    with pytest.raises(NotADirectoryError, match=r"org must be the organiser's folder, which `create` made"):
        require_private(tmp_path / "org")
    (tmp_path / "org" / "manifest.json").touch()
    with pytest.raises(PermissionError, match=r"chmod 700 .*org. Got mode 750"):
        require_private(tmp_path / "org")


def test_a_link_and_a_file_are_no_folder(tmp_path):
    make_private(tmp_path / "org")
    (tmp_path / "link").symlink_to(tmp_path / "org")
    (tmp_path / "file").touch()
    for name in ("link", "file", "absent"):
        with pytest.raises(NotADirectoryError, match=name):
            require_private(tmp_path / name)


def test_neither_folder_may_lie_in_the_other(tmp_path):
    (tmp_path / "org").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "org")
    require_apart(tmp_path / "org", tmp_path / "pub")
    for one, other in [
        ("org", "org"),
        ("org", "org/pub"),
        ("pub/org", "pub"),
        ("org", "link/pub"),
        ("org", "pub/../org"),
    ]:
        with pytest.raises(ValueError, match="must lie apart"):
            require_apart(tmp_path / one, tmp_path / other)
