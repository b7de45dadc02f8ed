"""The mutants that no test can kill, each with its reason: ``survivors.toml``."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.soak.mutants.covering import ROOT
from tests.soak.mutants.mutations import Mutant

SURVIVORS = Path(__file__).with_name("survivors.toml")


@dataclass(frozen=True)
class Survivor:
    """A change that does no harm.

    Parameters
    ----------
    file : str
        From the root.
    before, after : str
        The lines that differ, without the space around them.
    """

    file: str
    before: str
    after: str


def read_survivors(path: Path = SURVIVORS) -> dict[Survivor, str]:
    """Read the reasons; each must say something."""
    found = tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", [])
    reasons = {Survivor(one["file"], one["before"], one["after"]): one["reason"] for one in found}
    if empty := [survivor for survivor, reason in reasons.items() if not reason.strip()]:
        raise ValueError(f"{path}: a survivor must have a reason. Got none for {empty[0]}.")
    return reasons


def survivor_of(mutant: Mutant) -> Survivor:
    """Return how a mutant would be listed: by its lines, so that it is found again when others are added above."""
    return Survivor(str(mutant.path.relative_to(ROOT)), *mutant.change)


def format_survivor(mutant: Mutant) -> str:
    """Write the entry of a mutant, with an empty reason."""
    survivor = survivor_of(mutant)
    # A JSON string is a TOML string, too.
    lines = [f"{key} = {json.dumps(getattr(survivor, key), ensure_ascii=False)}" for key in ("file", "before", "after")]
    return "\n".join([f"# line {mutant.line}", "[[survivor]]", *lines, 'reason = ""'])
