"""Pictures are whole or absent, and the same each time."""

import errno

import pytest
from matplotlib.figure import Figure

from mlstream.plotting.matplotlib_parts import write_picture


class FullDisk(Figure):
    """A figure of which a part is written when the disk is full."""

    def savefig(self, fname, **_):
        """Write a part."""
        fname.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["a.png", "a.SVG", "a.pdf"])
def test_the_suffix_is_the_format_and_only_the_picture_is_left(name, tmp_path):
    write_picture(Figure(), tmp_path / name)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[name[2:].lower()]
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_same_figure_gives_the_same_svg(tmp_path):
    for name in ("a.svg", "b.svg"):
        figure = Figure()
        figure.add_subplot().plot([1, 2], [3, 4])
        write_picture(figure, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_full_disk_leaves_the_old_picture_and_is_told_with_its_name(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space left") as caught:
        write_picture(FullDisk(), path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.exe", "a"])
def test_another_suffix_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.png, \.svg or \.pdf\. Got 'a"):
        write_picture(Figure(), tmp_path / name)
