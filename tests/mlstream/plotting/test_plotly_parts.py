import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlstream.analysis.groups import group_runs
from mlstream.plotting.plotly_parts import line, safe
from mlstream.plotting.styles import N_COLOURS, PAPER_COLOURS, SYMBOLS, Key, distinct, strategy_key, task_keys
from tests.mlstream.plotting.plotly_checks import TEMPLATES, palettes
from tests.mlstream.records.run_records import make_capped, make_run

# Machado, Oliveira and Fernandes 2009: how the three kinds of colour blindness, complete, see linear RGB.
SIGHTS = {
    "all colours": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.0891])


def linear(colour):
    rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, other):
    dark, light = sorted(TO_XYZ[1] @ linear(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_colours_of_lines_stay_apart_whoever_looks(palette, sight):
    seen = [lab(np.asarray(SIGHTS[sight]) @ linear(palette[f"series-{place}"])) for place in range(N_COLOURS)]
    # A difference of 2.3 is just noticeable; thin lines need several times as much.
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 15


def test_figures_for_print_have_the_colours_of_the_light_page():
    assert [palettes()[0][f"series-{place}"] for place in range(N_COLOURS)] == list(PAPER_COLOURS)


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_contrasts_are_those_that_wcag_asks_for(palette):
    assert all(contrast(palette[f"series-{place}"], palette["paper"]) >= 3 for place in range(N_COLOURS))
    assert all(contrast(palette[name], palette["paper"]) >= 4.5 for name in ("ink", "muted", "accent", "warn"))
    assert contrast(palette["warn"], palette["warn-paper"]) >= 4.5


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_the_scale_of_heat_maps_gets_steadily_lighter_or_darker(palette):
    steps = np.diff([lab(linear(palette[f"heat-{level}"]))[0] for level in range(5)])
    assert (steps > 7).all() or (steps < -7).all()


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark"])
def test_numbers_can_be_read_on_every_heat_and_a_blank_cell_is_no_zero(palette):
    assert all(contrast(palette["ink"], palette[f"heat-{level}"]) >= 4.5 for level in range(5))
    assert np.linalg.norm(lab(linear(palette["heat-0"])) - lab(linear(palette["paper"]))) > 8


def test_the_first_42_lines_and_56_points_all_look_different():
    keys = [Key("", "", style) for style in range(56)]
    assert len({(key.colour, key.dash) for key in keys[:42]}) == 42
    assert len({(key.colour, key.symbol) for key in keys}) == 56
    assert all(one.dash != other.dash for one, other in pairwise(keys))


def test_the_page_draws_every_symbol_that_points_have():
    macros = (TEMPLATES / "macros.html").read_text(encoding="utf-8")
    assert set(re.findall(r'"([a-z-]+)": "M', macros)) == set(SYMBOLS)


@pytest.mark.slow
@given(st.text())
def test_no_tag_no_entity_and_no_template_survives(name):
    assert not set(safe(name)) & set("<>%")
    assert not re.search(r"&(?!amp;|lt;|gt;|#37;)", safe(name))


@given(st.lists(st.sampled_from(["a", "a (2)", "a (2) (2)", "long", "lo…"]), max_size=8))
def test_labels_are_short_and_kept_apart(names):
    labels = distinct(names, length=3)
    assert len(set(labels)) == len(names)
    assert all(label.startswith(name[:2]) for label, name in zip(labels, names, strict=True))


def test_long_names_keep_both_ends():
    (label,) = distinct(["abcdefghij"], length=7)
    assert len(label) == 7
    assert (label[:4], label[-2:]) == ("abcd", "ij")


def test_a_legend_switches_the_lines_that_it_names():
    (group,) = group_runs([make_capped("BR_HT")])["yeast"]
    key = strategy_key(group.label, group.style)
    assert key.name == "BR_HT (capped)"
    assert line(key)["legendgroup"] == key.group
    assert len({key.group for key in task_keys(["same", "same"])}) == 2


def test_one_strategy_looks_the_same_on_every_stream():
    streams = group_runs([make_run("NN", 0, "a"), make_run("1NN", 0, "a"), make_run("1NN", 0, "b")])
    assert streams["a"][1].style == streams["b"][0].style
