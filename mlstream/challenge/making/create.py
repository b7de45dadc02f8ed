"""Making a challenge, the organiser's folder and the bundle for contestants, and comparing both with what was made."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from mlstream._support.files import atomic_folders, read_bounded, sha256_of
from mlstream.challenge.clock import Clock
from mlstream.challenge.config import MAX_FILE_BYTES, ChallengeConfig, parse_config, read_config
from mlstream.challenge.errors import StateFailed
from mlstream.challenge.folder import PRIVATE, OrganiserFolder, make_private, require_apart, require_private
from mlstream.challenge.making.bundle import (
    ENVIRONMENT,
    ROW_ID,
    SUMS,
    HiddenRows,
    TrainingRows,
    find_changed,
    is_list_of,
    read_sums,
    write_bundle,
)
from mlstream.challenge.making.environments import Environment
from mlstream.challenge.making.hiding import keyed_digest
from mlstream.challenge.making.plan import Plan, make_plan, truth_of
from mlstream.challenge.making.public_card import PublicCard, PublicEnvironment, describe_features
from mlstream.challenge.manifest import EnvironmentEntry, Feedback, Manifest, read_manifest, write_manifest
from mlstream.challenge.scoring.feedback import plan_feedback
from mlstream.challenge.scoring.metric import metric_of
from mlstream.challenge.state.store import Store
from mlstream.challenge.truth import Keys, Truth, hash_keys, read_truth, write_truth
from mlstream.data.registry import list_datasets
from mlstream.formats import load, save
from mlstream.streams.stream import Index, Stream
from mlstream.streams.tables.arrays import join_rows

_SALT_BYTES = 32
_MAX_NAMED = 10
# A synthetic stream with a seed below this can be found by trying them all.
_GUESSABLE_SEEDS = 2**40


def create_challenge(
    stream: Stream,
    config_file: Path,
    folder: Path,
    bundle: Path,
    *,
    clock: Clock,
    force: bool = False,
    salt: bytes | None = None,
) -> Manifest:
    """Make the organiser's folder and the bundle for contestants; both are complete, or both are absent.

    The tasks of the stream are the environments. Without roles in the rules, roles are those on the card of the stream.
    The organiser's folder is readable by its owner only. `clock` gives the time of the creation. `force` accepts hidden
    environments of fewer than `min_rows` rows. `salt`, the key of row names and codes, is drawn by the system if None;
    tests pass it.

    Raises FileExistsError if one of the folders exists; ValueError if a role lacks environments, a hidden environment
    is too small, no label has both classes in every hidden environment, or a folder lies in the other.
    """
    require_apart(folder, bundle)
    rules = read_bounded(config_file, MAX_FILE_BYTES)
    config = parse_config(rules, config_file)
    plan = make_plan(stream, config, salt or secrets.token_bytes(_SALT_BYTES), force=force)
    with atomic_folders(folder, bundle) as (private, public):
        private.chmod(PRIVATE)
        place = OrganiserFolder(private)
        truths = _write_truth(place, plan)
        keys, feedback = [truth.row_keys for truth in truths], _plan_feedback(config, plan, truths)
        fill_bundle(public, stream, config, plan, keys, feedback)
        save(stream, place.stream)
        place.salt.write_bytes(plan.salt)
        place.config.write_bytes(rules)
        hashes = sha256_of(place.stream), sha256_of(public / SUMS)
        manifest = _summarise(stream, config, plan, keys, hashes, clock()).model_copy(update={"feedback": feedback})
        write_manifest(place.manifest, manifest)
        try:
            begin_state(place, manifest.created)
        except StateFailed as error:
            # The folder has a temporary name until the end.
            raise StateFailed(str(error).replace(str(private), str(folder))) from error
    return manifest


def begin_state(folder: OrganiserFolder, now: datetime) -> None:
    """Make the empty state of a challenge, once all its other files are there; the log begins with their hashes.

    A FileExistsError is raised if there is a state: a budget is never set back.
    """
    make_private(folder.scratch)
    names = [folder.config, folder.manifest, folder.salt, folder.stream, *sorted(folder.truth.iterdir())]
    files = {str(path.relative_to(folder.path)): sha256_of(path) for path in names}
    store = Store(folder.state)
    try:
        store.create()
        with store.write(now) as state:
            state.add("creations", files=json.dumps(files))
    finally:
        store.close()


def fill_bundle(
    folder: Path, stream: Stream, config: ChallengeConfig, plan: Plan, keys: Sequence[Keys], feedback: Feedback
) -> None:
    """Write the bundle for contestants into an empty folder; `plan` comes from `make_plan`.

    `keys` are those of the rows of each hidden environment.
    """
    write_bundle(folder, _describe(stream, config, plan, feedback), _training_rows(plan), _hidden_rows(plan, keys))


def advise(stream: Stream, manifest: Manifest) -> list[str]:
    """List what an organiser should know about a challenge that can be run as it is, one line each."""
    found = []
    if manifest.truth_is_public:
        found.append(
            f"The labels can be looked up: the table {stream.card.source.origin!r} is published. Prefer a private "
            "table or a synthetic stream."
        )
    seed = stream.card.generator.seed
    if stream.card.source.origin == "synthetic" and seed is not None and seed < _GUESSABLE_SEEDS:
        found.append(
            f"The stream can be made again by guessing its seed, which is small. Generate it with a seed of "
            f"{_GUESSABLE_SEEDS} or more (python -c 'import secrets; print(secrets.randbits(62))')."
        )
    if manifest.telling_features:
        names = ", ".join(map(repr, manifest.telling_features[:_MAX_NAMED]))
        found.append(
            f"Contestants see which hidden rows are of one environment: the values of {names} lie apart. leave_out = "
            f"{json.dumps(manifest.telling_features[:_MAX_NAMED], ensure_ascii=False)} in challenge.toml leaves such "
            "features out."
        )
    if manifest.n_identical_rows:
        found.append(
            f"{manifest.n_identical_rows} hidden rows have the features of a training row; remove_duplicate_rows = "
            "true in challenge.toml leaves such rows out."
        )
    return found


def verify_challenge(folder: Path, bundle: Path | None = None) -> list[str]:
    """Compare the organiser's folder, and the bundle, with what `create` makes of the stream.

    The result has one line for each difference. Raises PermissionError if others can read the organiser's folder,
    ValueError if its manifest or configuration cannot be read.
    """
    require_private(folder)
    place = OrganiserFolder(folder)
    manifest = read_manifest(place.manifest)
    found = list(_compare_truth(place, manifest))
    return found if bundle is None else [*found, *_compare_bundle(place, manifest, bundle)]


def _plan_feedback(config: ChallengeConfig, plan: Plan, truths: Sequence[Truth]) -> Feedback:
    pairs = [(one.role, truth) for one, truth in zip(plan.hidden, truths, strict=True)]
    validation, trained = (
        [truth for found, truth in pairs if found == role] for role in ("validation", "in-distribution")
    )
    return plan_feedback(config, validation, trained)


def _write_truth(place: OrganiserFolder, plan: Plan) -> list[Truth]:
    place.truth.mkdir()
    place.submissions.mkdir()
    truths = truth_of(plan)
    for number, truth in enumerate(truths):
        write_truth(place.truth / _truth_name(number), truth)
    return truths


def _truth_name(number: int) -> str:
    return f"{number:02}.npz"


def _training_rows(plan: Plan) -> TrainingRows:
    mixed = [one.take(_mixed(plan.salt, one)) for one in plan.training]
    X = [plan.hiding.apply(one.X) for one in mixed]
    Y, mask = (np.concatenate([getattr(one, part) for one in mixed]) for part in ("Y", "mask"))
    return TrainingRows(
        join_rows(X),
        Y if mask.all() else np.where(mask, Y, np.nan).astype(np.float32),
        np.repeat(np.arange(1, len(mixed) + 1), [len(one) for one in mixed]),
    )


def _mixed(salt: bytes, one: Environment) -> Index:
    """Draw an order of rows: that of the table would tell which rows lie between them."""
    seed = int.from_bytes(keyed_digest(salt, "order", one.name))
    return np.random.default_rng(seed).permutation(len(one))


def _hidden_rows(plan: Plan, keys: Sequence[Keys]) -> HiddenRows:
    joined, X = np.concatenate(keys), [plan.hiding.apply(one.X) for one in plan.hidden]
    if len(np.unique(joined)) < len(joined):
        raise RuntimeError("Two rows got the same 64-bit key, by chance; create the challenge again.")
    order = np.argsort(joined)
    table = join_rows(X)
    return HiddenRows(joined[order], table[order])


def _describe(stream: Stream, config: ChallengeConfig, plan: Plan, feedback: Feedback) -> PublicCard:
    labels, taken = stream.card.label_names, {ENVIRONMENT, ROW_ID, *plan.hiding.names}
    for name in labels:
        if name in taken:
            raise ValueError(f"A label must not be called {name!r}, which is a column of the bundle. Rename the label.")
    return PublicCard(
        name=config.name,
        metric=config.metric,
        lower_is_better=metric_of(config.metric).lower_is_better,
        opens=config.opens,
        development_ends=config.development_ends,
        final_ends=config.final_ends,
        timezone=config.timezone,
        queries_per_day=config.queries_per_day,
        final_selections=config.final_selections,
        decimals=feedback.decimals,
        ladder_step=feedback.step,
        robustness_prize=any(one.role == "unseen" for one in plan.hidden),
        features=describe_features(plan.hiding),
        label_names=list(labels),
        scored_labels=[labels[label] for label in plan.scored.tolist()],
        environments=[
            PublicEnvironment(number=number, rows=len(one)) for number, one in enumerate(plan.training, start=1)
        ],
        n_hidden_rows=sum(map(len, plan.hidden)),
        licence=stream.card.source.licence,
        citation=stream.card.source.citation,
        truth_is_public=_is_public(stream),
    )


def _is_public(stream: Stream) -> bool:
    return stream.card.source.origin in {entry.name for entry in list_datasets()}


def _summarise(
    stream: Stream,
    config: ChallengeConfig,
    plan: Plan,
    keys: Sequence[Keys],
    hashes: tuple[str, str],
    created: datetime,
) -> Manifest:
    return Manifest(
        name=config.name,
        created=created,
        metric=config.metric,
        environments=list(_entries(plan)),
        label_names=list(stream.card.label_names),
        scored_labels=plan.scored.tolist(),
        n_hidden=sum(map(len, keys)),
        n_features=len(plan.hiding.order),
        holdout_sha256=hash_keys(np.concatenate(keys)),
        stream_sha256=hashes[0],
        bundle_sha256=hashes[1],
        truth_is_public=_is_public(stream),
        n_identical_rows=plan.n_identical,
        telling_features=plan.telling,
        dropped_rows=plan.n_dropped,
        in_distribution_score=config.in_distribution_score,
    )


def _entries(plan: Plan) -> Iterator[EnvironmentEntry]:
    """Yield the environments, each with a public name that does not tell which task it is."""
    counts: Counter[str] = Counter()
    for one in (*plan.training, *plan.hidden):
        counts[one.role] += 1
        number = sum(counts.values()) - len(plan.training) - 1
        yield EnvironmentEntry(
            name=one.name,
            public_name=f"{one.role}-{counts[one.role]}",
            role=one.role,
            n_rows=len(one),
            file=f"truth/{_truth_name(number)}" if one.is_hidden else None,
        )


def _compare_truth(place: OrganiserFolder, manifest: Manifest) -> Iterator[str]:
    if sha256_of(place.stream) != manifest.stream_sha256:
        yield f"{place.stream.name} has changed"
        return
    plan = make_plan(load(place.stream), read_config(place.config), place.salt.read_bytes(), force=True)
    entries = [entry for entry in manifest.environments if entry.file is not None]
    if [entry.name for entry in entries] != [one.name for one in plan.hidden]:
        yield f"{place.manifest.name} lists other hidden environments than {place.config.name}"
        return
    for entry, expected in zip(entries, truth_of(plan), strict=True):
        try:
            got = read_truth(place.path / str(entry.file))
        except (ValueError, OSError) as error:
            yield f"{entry.file} cannot be read: {error}"
            continue
        if not all(map(np.array_equal, got, expected)):
            yield f"{entry.file} is not the truth of environment {entry.name!r}"


def _compare_bundle(place: OrganiserFolder, manifest: Manifest, bundle: Path) -> Iterator[str]:
    if not is_list_of(bundle, manifest.bundle_sha256):
        yield f"{bundle / SUMS} is missing, or not the one that was made"
        return
    for name in sorted({path.name for path in bundle.iterdir()} - {*read_sums(bundle), SUMS}):
        yield f"{bundle / name} does not belong to the bundle"
    yield from (f"{path} is missing, or has changed" for path in find_changed(bundle))
    yield from _find_secrets(place, manifest, bundle)


def _find_secrets(place: OrganiserFolder, manifest: Manifest, bundle: Path) -> Iterator[str]:
    """Search the bundle for what only the organiser may know."""
    salt = place.salt.read_bytes()
    private = (salt, salt.hex().encode(), manifest.stream_sha256.encode(), manifest.holdout_sha256.encode())
    for path in filter(Path.is_file, sorted(bundle.iterdir())):
        content = path.read_bytes()
        if any(secret in content for secret in private):
            yield f"{path} holds a secret of the organiser"
