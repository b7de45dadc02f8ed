"""Licences by their SPDX identifiers, and what people write instead."""

from mlstream.cards.licences import hub_licence, licence_page, nearest_identifier, spdx_identifier
from tests.loops import check_all


def test_a_licence_is_recognised_however_it_is_spelled() -> None:
    def check(case: tuple[str, str | None]) -> None:
        stated, identifier = case
        assert spdx_identifier(stated) == identifier

    check_all(
        [
            ("CC-BY-4.0", "CC-BY-4.0"),
            ("cc by 4.0", "CC-BY-4.0"),
            (" CC_BY_SA_4.0 ", "CC-BY-SA-4.0"),
            ("MIT (github.com/eliot-leguy/OSC-MLC)", "MIT"),
            ("apache 2.0", "Apache-2.0"),
            ("CC0", "CC0-1.0"),
            ("", None),
            ("CC-BY", None),
            ("MIT OR Apache-2.0", None),
            ("Public research data", None),
        ],
        check,
    )


def test_a_near_miss_names_the_licence_that_is_meant() -> None:
    def check(case: tuple[str, str]) -> None:
        typed, meant = case
        assert nearest_identifier(typed) == meant

    check_all(
        [
            ("CC-BY", "CC-BY-4.0"),
            ("CCBY4", "CC-BY-4.0"),
            ("CC-BY-40", "CC-BY-4.0"),
            ("CC-BY-NC 4", "CC-BY-NC-4.0"),
            ("CC BY-SA", "CC-BY-SA-4.0"),
            ("Creative Commons Attribution 4.0 International", "CC-BY-4.0"),
            ("Creative Commons Zero", "CC0-1.0"),
            ("Apache", "Apache-2.0"),
            ("Apache-20", "Apache-2.0"),
            ("Apache License 2.0", "Apache-2.0"),
            ("BSD", "BSD-3-Clause"),
            ("MIT License", "MIT"),
            ("ODbL", "ODbL-1.0"),
            ("PDDL", "PDDL-1.0"),
            ("GPL-3.0", "GPL-3.0-only"),
        ],
        check,
    )


def test_other_words_are_left_alone() -> None:
    def check(typed: str) -> None:
        assert nearest_identifier(typed) is None

    check_all(
        [
            "",
            "no",
            "none",
            "CC-BY-4.0",
            "cc by 4.0",
            "All rights reserved",
            "Ask the authors",
            "proprietary",
            "Public domain",
            "Public research data (MULAN, MEKA and KDIS collections); no licence file of its own.",
            "x" * 10_000,
        ],
        check,
    )


def test_hubs_have_names_of_their_own() -> None:
    names = [hub_licence(one) for one in ("CC-BY-4.0", "ODbL-1.0", "GPL-3.0-only", "EUPL-1.2", "ask us", " ")]
    assert names == ["cc-by-4.0", "odbl", "gpl-3.0", "eupl-1.2", "other", "unknown"]
    assert licence_page("CC-BY-4.0") == "https://spdx.org/licenses/CC-BY-4.0.html"
