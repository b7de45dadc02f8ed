"""The options of an evaluation and of a campaign: names, defaults, choices and one-line help, written here only.

The signatures of `evaluate`, `detect` and of their campaigns, the keys of a campaign file and the options of ``mlstream
run`` and ``mlstream detect`` follow from the classes below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_type_hints

if TYPE_CHECKING:
    # The command line builds its help from this module, and must start quickly.
    from pydantic import JsonValue

LabelSpace = Literal["task", "seen", "all"]
OneClass = Literal["skip", "recall", "river"]
Ties = Literal["expected", "order"]
Decision = Literal["own", "half", "prevalence"]
SelectionMethod = Literal[
    "first-experience", "training-environment", "leave-one-environment-out", "validation-environment"
]
EnergyMethod = Literal["codecarbon", "cpu", "none"]
Objective = Literal["frug_kwh", "frug_kj"]
Errors = Literal["subset", "hamming"]
Check = Callable[[Any, str], object]

# scikit-learn's random_state is an unsigned number of 32 bits.
_MAX_SEED = 2**32 - 1

# Options that records of older versions do not have.
_ABSENT_BY_DEFAULT = ("metrics", "warm_up_rows", "decision", "also_decide", "label_budget")

# A protocol, or a port: tcp://127.0.0.1:8786, localhost:8786, inproc://127.0.0.1/1/1.
_ADDRESS = re.compile(r"[a-z]+://.+|.+:\d+")


class Option(NamedTuple):
    """One option, as every interface presents it."""

    name: str  # In Python and in a campaign file.
    flags: tuple[str, ...]  # Names on the command line, the long one first.
    type: Any
    default: Any
    help: str
    check: Check  # Raises a ValueError if a value, given second the name that the user typed, is not valid.


def list_options(kind: type[Settings | CampaignOptions | DetectionOptions]) -> list[Option]:
    """List the options that a class defines, in its order."""
    types = get_type_hints(kind)
    return [
        Option(
            name=one.name,
            flags=one.metadata["flags"] or (f"--{one.name.replace('_', '-')}",),
            type=types[one.name],
            default=one.default,
            help=one.metadata["help"],
            check=one.metadata["check"],
        )
        for one in fields(kind)
    ]


def check_options(
    options: Sequence[Option], values: Mapping[str, object], name: Callable[[Option], str] = attrgetter("name")
) -> None:
    """Raise a ValueError if the value of an option is not valid, or two options exclude each other.

    `name` gives the name of an option that the user typed.
    """
    for option in options:
        option.check(values[option.name], name(option))
    if values.get("vary"):
        typed = {option.name: name(option) for option in options}
        if others := [typed[other] for other in ("orders", "splits") if values[other]]:
            raise ValueError(
                f"{typed['vary']} must be left out where {typed['orders']} or {typed['splits']} is given: each seed "
                f"sets both. Got {typed['vary']} and {' and '.join(others)}."
            )
    if values.get("decision") in values.get("also_decide", ()):  # type: ignore[operator]
        typed = {option.name: name(option) for option in options}
        both = f"{typed['also_decide']} must hold other rules than {typed['decision']}"
        raise ValueError(f"{both}. Got {values['decision']!r} in both.")
    if values.get("label_budget"):
        _require_rules_of_answers(values, {option.name: name(option) for option in options})


def _require_rules_of_answers(values: Mapping[str, Any], typed: Mapping[str, str]) -> None:
    if "prevalence" in (values["decision"], *values["also_decide"]):
        raise ValueError(
            f"{typed['decision']} and {typed['also_decide']} must hold other rules than 'prevalence', which counts all "
            f"labels, with {typed['label_budget']}. Got 'prevalence'; PrevalenceThreshold around a learner counts "
            f"those that it was given."
        )


def require_seed(seed: object, name: str = "seed") -> int:
    """Return the seed as an int; raise a ValueError if it is not one."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) <= _MAX_SEED:
        raise ValueError(f"{name} must be a whole number from 0 to 2**32 - 1. Got {seed!r} instead.")
    return int(seed)


def require_count(value: object, name: str, minimum: int = 1) -> None:
    """Raise a ValueError unless the value is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{name} must be a whole number, at least {minimum}. Got {value!r} instead.")


def _require_choice(choices: tuple[str, ...], value: object, name: str) -> None:
    from metrics.validation import require_choice

    require_choice(value, name, choices)


def _require_label_space(value: object, name: str) -> None:
    if value is not None:
        _require_choice(get_args(LabelSpace), value, name)


def _require_bool(value: object, name: str) -> None:
    if not isinstance(value, bool):
        # Like every other option.
        raise ValueError(f"{name} must be True or False. Got {value!r} instead.")  # noqa: TRY004


def _require_positive(value: object, name: str) -> None:
    if not _is_positive(value) or value == math.inf:
        raise ValueError(f"{name} must be a positive number. Got {value!r} instead.")


def _require_time_cap(value: object, name: str) -> None:
    if value is not None and not _is_positive(value):
        raise ValueError(f"{name} must be a positive number, or inf for no cap. Got {value!r} instead.")


def _require_window(value: object, name: str) -> None:
    if value is not None:
        require_count(value, name)


def _require_warm_up(value: object, name: str) -> None:
    if value is not None:
        require_count(value, name, minimum=0)


def _require_label_budget(value: object, name: str) -> None:
    # the bounds of `estimators.LabelBudget`, which takes long to import
    if value is not None and not (_is_positive(value) and 1e-5 <= float(value) <= 1):  # type: ignore[arg-type]
        raise ValueError(f"{name} must be a share of the labels, from 0.00001 to 1. Got {value!r} instead.")


def _require_seeds(value: Any, name: str) -> None:
    for seed in value:
        require_seed(seed, f"each of {name}")
    if len(set(value)) < len(value):
        raise ValueError(f"{name} must hold each number once. Got {list(value)!r} instead.")


def _require_processes(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or (value != -1 and value < 1):
        raise ValueError(f"{name} must be a number of processes, or -1 for as many as cores. Got {value!r} instead.")


def _require_names(value: Any, name: str) -> None:
    if isinstance(value, str) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{name} must be a list of names. Got {value!r} instead.")
    if len(set(value)) < len(value):
        raise ValueError(f"{name} must hold each name once. Got {list(value)!r} instead.")


def _require_metrics(value: Sequence[str], name: str) -> None:
    _require_names(value, name)
    if value:
        from metrics.named import find_metrics

        find_metrics(value, name)


def _require_rules(value: Sequence[str], name: str) -> None:
    _require_names(value, name)
    for rule in value:
        _require_choice(get_args(Decision), rule, f"each of {name}")


def _require_address(value: object, name: str) -> None:
    if value is not None and not (isinstance(value, str) and _ADDRESS.fullmatch(value)):
        raise ValueError(f"{name} must be an address such as tcp://127.0.0.1:8786. Got {value!r} instead.")


def _is_positive(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and float(value) > 0


def _about(help_text: str, check: Check, *flags: str) -> dict[str, Any]:
    return {"help": help_text, "check": check, "flags": flags}


# Options that several classes have.
_LABEL_SPACE = _about(
    "Labels that count in a score: those of the row's task, of all tasks seen so far, or all; by default as the "
    "scenario asks.",
    _require_label_space,
)
_JOBS = _about("Number of processes; -1 for as many as cores.", _require_processes, "--jobs", "-j")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of an evaluation; `evaluate` explains them at length.

    A ValueError is raised if the value of an option is not valid.
    """

    label_space: LabelSpace | None = field(default=None, metadata=_LABEL_SPACE)
    metrics: tuple[str, ...] = field(
        default=(),
        metadata=_about("Metrics to score by beside those of every run, such as hamming_loss.", _require_metrics),
    )
    references: bool = field(
        default=False,
        metadata=_about("Also train joint and single-task models, to compare the learner with.", _require_bool),
    )
    one_class: OneClass = field(
        default="skip",
        metadata=_about(
            "How a label whose true values are all the same counts in balanced accuracy.",
            partial(_require_choice, get_args(OneClass)),
        ),
    )
    ties: Ties = field(
        default="expected",
        metadata=_about(
            "How labels with equal scores count where the k best are chosen: by the mean over all orders of them, or "
            "the first of them first, as in published tables.",
            partial(_require_choice, get_args(Ties)),
        ),
    )
    decision: Decision = field(
        default="own",
        metadata=_about(
            "How predictions are decided: as each learner does, at a probability of one half, or at the prevalence of "
            "the label.",
            partial(_require_choice, get_args(Decision)),
        ),
    )
    also_decide: tuple[Decision, ...] = field(
        default=(),
        metadata=_about(
            "Further rules of decisions that predictions are scored by, beside decision: own, half or prevalence.",
            _require_rules,
        ),
    )
    energy: EnergyMethod = field(
        default="codecarbon",
        metadata=_about(
            "How energy is measured: by CodeCarbon, as CPU seconds times a stated power, or not at all. Without a "
            "meter in the processor, CodeCarbon's figure is mostly a constant power of memory, and so wall time.",
            partial(_require_choice, get_args(EnergyMethod)),
        ),
    )
    cpu_power_w: float = field(
        default=15.0,
        metadata=_about("Power of a busy core in watts, for the energy method cpu.", _require_positive, "--cpu-power"),
    )
    time_cap_s: float | None = field(
        default=10_800.0,
        metadata=_about(
            "Seconds after which a run, or a search, is stopped; inf for no cap.", _require_time_cap, "--time-cap"
        ),
    )
    n_checkpoints: int = field(
        default=100, metadata=_about("Largest number of points of a curve.", require_count, "--checkpoints")
    )
    window: int | None = field(
        default=None,
        metadata=_about(
            "Rows that a windowed score covers; by default about a twentieth of the stream.", _require_window
        ),
    )
    chunk_size: int = field(
        default=256, metadata=_about("Rows per call of a learner; scores do not depend on it.", require_count)
    )

    warm_up_rows: int | None = field(
        default=None,
        metadata=_about(
            "Rows that a learner waits for and then learns in one call; by default as few as it accepts.",
            _require_warm_up,
        ),
    )
    label_budget: float | None = field(
        default=None,
        metadata=_about(
            "Share of the labels that a learner may ask for; by default it is given all.", _require_label_budget
        ),
    )

    def __post_init__(self) -> None:
        check_options(list_options(Settings), vars(self))
        object.__setattr__(self, "metrics", tuple(self.metrics))
        object.__setattr__(self, "also_decide", tuple(self.also_decide))
        if self.time_cap_s == math.inf:
            # JSON has no infinity: records hold null.
            object.__setattr__(self, "time_cap_s", None)

    def as_json(self) -> dict[str, JsonValue]:
        """Return the options that a record repeats.

        The label space has a field of its own there, nothing depends on the size of chunks, the stated power only
        counts where it is used, and records without further metrics, rows to wait for, a budget of labels, or another
        decision than a learner's own are as those of versions that had none.
        """
        left_out = {"label_space", "chunk_size"} | ({"cpu_power_w"} if self.energy != "cpu" else set())
        left_out |= {name for name in _ABSENT_BY_DEFAULT if getattr(self, name) == getattr(Settings, name)}
        kept = {name: value for name, value in asdict(self).items() if name not in left_out}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}

    @property
    def rules(self) -> tuple[Decision, ...]:
        """The rules of decisions under which a run is scored, that of the run itself first."""
        return (self.decision, *self.also_decide)

    @property
    def endings(self) -> tuple[str, ...]:
        """The ends of names of scores that depend on decisions, rule by rule; empty for that of the run."""
        return ("", *(f"[{rule}]" for rule in self.also_decide))


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """The options of a campaign that are not those of an evaluation; `run_campaign` explains them at length.

    A ValueError is raised if the value of an option is not valid.
    """

    seeds: tuple[int, ...] = field(default=(0,), metadata=_about("Seeds of the learners.", _require_seeds))
    vary: bool = field(
        default=False,
        metadata=_about(
            "Let each seed also reorder the tasks and split the rows again, the same for all strategies.",
            _require_bool,
        ),
    )
    orders: tuple[int, ...] = field(
        default=(),
        metadata=_about("Seeds of orders of the tasks; by default the order that the stream has.", _require_seeds),
    )
    splits: tuple[int, ...] = field(
        default=(),
        metadata=_about("Seeds of splits of the rows; by default the split that the stream has.", _require_seeds),
    )
    n_configurations: int = field(
        default=0,
        metadata=_about(
            "Configurations of each strategy that are tried before it runs; 0 for its defaults.",
            partial(require_count, minimum=0),
            "--tune",
        ),
    )
    selection: SelectionMethod = field(
        default="first-experience",
        metadata=_about(
            "Rows on which a configuration is chosen: the first experience, held-out rows of training environments, "
            "each training environment in turn, or the validation environments.",
            partial(_require_choice, get_args(SelectionMethod)),
        ),
    )
    objective: Objective = field(
        default="frug_kwh",
        metadata=_about(
            "Score by which a configuration is chosen on the first experience: BA_macro minus C / (1 + C), C the "
            "energy of the trial in kWh or kJ.",
            partial(_require_choice, get_args(Objective)),
        ),
    )
    query_budget: int = field(
        default=30,
        metadata=_about("Configurations of a search that may be scored on the validation environments.", require_count),
    )
    n_jobs: int = field(default=1, metadata=_JOBS)
    dask: str | None = field(
        default=None,
        metadata=_about(
            "Address of a Dask scheduler whose workers run everything: `tcp://HOST:8786`.", _require_address
        ),
    )

    def __post_init__(self) -> None:
        check_options(list_options(CampaignOptions), vars(self))


@dataclass(frozen=True, kw_only=True)
class DetectionOptions:
    """The options of a detection, and of a campaign of detections; `detect` and `run_detections` explain them.

    A ValueError is raised if the value of an option is not valid.
    """

    errors: Errors = field(
        default="subset",
        metadata=_about(
            "Errors that a detector of whole rows is given: 1 if any label is wrong, or the share of labels that are.",
            partial(_require_choice, get_args(Errors)),
        ),
    )
    max_delay: int | None = field(
        default=None,
        metadata=_about(
            "Rows after the end of a drift within which an alarm is in time; by default half of the shortest stretch "
            "from the start of a drift to that of the next, or to the end of the stream.",
            _require_window,
        ),
    )
    max_early: int = field(
        default=0,
        metadata=_about(
            "Rows before the start of a drift within which an alarm is in time, too.",
            partial(require_count, minimum=0),
        ),
    )
    label_space: LabelSpace | None = field(default=None, metadata=_LABEL_SPACE)
    seeds: tuple[int, ...] = field(
        default=(0,), metadata=_about("Seeds of the learners, and of the detector that draws.", _require_seeds)
    )
    n_jobs: int = field(default=1, metadata=_JOBS)

    def __post_init__(self) -> None:
        check_options(list_options(DetectionOptions), vars(self))
