"""The evaluation of one learner on one stream."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from typing import Any

from mlstream.evaluation.cpu_ledger import cpu_part
from mlstream.evaluation.learners import adapt_to_stream, fresh, model_size_bytes
from mlstream.evaluation.live import LiveSource, evaluate_live, is_live
from mlstream.evaluation.predictions import Floats, require_probabilities
from mlstream.evaluation.provenance import describe_run
from mlstream.evaluation.resources import ResourceMeter
from mlstream.evaluation.run import RowProgress, Run, collapsed_warnings
from mlstream.evaluation.scoring import FIRST
from mlstream.evaluation.settings import (
    Decision,
    EnergyMethod,
    LabelSpace,
    OneClass,
    Settings,
    Ties,
    require_seed,
)
from mlstream.evaluation.summary import (
    ReferenceScores,
    ScoreRecord,
    add_constant_labels,
    add_continual,
    add_counted,
    add_environments,
    add_frugality,
    add_hierarchy,
    add_named,
    add_prequential,
    add_references,
    decided_by,
    reference_scores,
    without_pretraining,
)
from mlstream.publishing.named_streams import StreamLike, as_stream
from mlstream.records.run_result import References, Resources, RunResult, Score, sum_known, to_score
from mlstream.streams.stream import Stream

_LOG = logging.getLogger("mlstream")


class UndefinedCellsWarning(UserWarning):
    """Some balanced accuracies of R are undefined, and left out of means; given once per evaluation."""


def evaluate(  # noqa: PLR0913 - the options of an evaluation are what its record holds
    estimator: object,
    stream: StreamLike | LiveSource,
    *,
    label_space: LabelSpace | None = Settings.label_space,
    metrics: Sequence[str] = Settings.metrics,
    references: bool = Settings.references,
    seed: int = 0,
    one_class: OneClass = Settings.one_class,
    ties: Ties = Settings.ties,
    decision: Decision = Settings.decision,
    also_decide: Sequence[Decision] = Settings.also_decide,
    energy: EnergyMethod = Settings.energy,
    cpu_power_w: float = Settings.cpu_power_w,
    time_cap_s: float | None = Settings.time_cap_s,
    n_checkpoints: int = Settings.n_checkpoints,
    window: int | None = Settings.window,
    chunk_size: int = Settings.chunk_size,
    warm_up_rows: int | None = Settings.warm_up_rows,
    label_budget: float | None = Settings.label_budget,
    progress: RowProgress | None = None,
) -> RunResult:
    """Evaluate a learner on a stream.

    Every row of every experience is predicted, scored and learnt, in order. Before the first row and after each
    experience the model, frozen, predicts the evaluation sets of all tasks: the matrix R.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier with `partial_fit`, or any classifier of River. It is cloned, never changed. Of a
        classifier of one class a row each label learns a copy (`estimators.BinaryRelevance`), a River model is wrapped
        in `estimators.RiverClassifier`, and the record states it (``wrapped_as``). An estimator with
        `predict_then_fit` is called by chunks, any other row by row. The label mask of the task is passed when it
        learns, if its `uses_task` is True; where the scenario never shows the task, a mask of all labels is. Where the
        scenario always shows the task, an estimator whose `predict` or `predict_proba` has a parameter `label_mask`
        gets the labels of the row's task there too, and is called row by row. Where tasks are environments (the
        scenario "environments"; elsewhere they are not), an estimator that asks for environments gets the number of
        the row's task as ``environment`` when it learns, never when it predicts, and the record states it
        (``given_environment``). It asks for them by `uses_environment`; one without that, by a parameter
        `environment` of its `partial_fit` or `predict_then_fit`, or of an estimator inside for which scikit-learn
        routes it (``set_partial_fit_request(environment=True)``). Where labels emerge, an estimator made
        with ``on_new_labels="grow"`` is given the labels that have emerged so far, in that order; others are given all.
        Where the stream knows which features are categories, the learner is told (`estimators.with_categories`): trees
        of ours split them, other learners get a 0/1 feature for each value.
    stream : Stream, str, path or iterable
        The stream; or its file, its published folder, or the name of one that this project publishes. Rows of an NPZ
        file stay in it until they are learnt, so that memory does not depend on their number. Or a live source: any
        iterable of rows ``(x, y)``, of chunks ``(X, Y)`` or of tables (`Dataset`), see Notes.
    label_space : {"task", "seen", "all"}, optional
        Labels that count in a score: those of the row's task, of all tasks seen so far, or all; by default as the
        scenario asks. That is "seen" for the scenarios class-incremental, task-free, label-emerging and iirc, and
        "task" for others.
    metrics : sequence of str
        Metrics to score by beside those of every run, such as hamming_loss. All names: `metrics.named`.
    references : bool
        Also train joint and single-task models, to compare the learner with. They are clones of the estimator, and give
        the scores ``im``, ``fwt_single`` and ``acc_joint``. Their cost is not in the record.
    seed : int
        Value that every `random_state` of the estimator gets, nested ones too.
    one_class : {"skip", "recall", "river"}
        How a label whose true values are all the same counts in balanced accuracy. See `metrics.ba_macro`.
    ties : {"expected", "order"}
        How labels with equal scores count where the k best are chosen: by the mean over all orders of them, or the
        first of them first, as in published tables. It matters for precision at k, and for ``one_error``,
        ``recall_at_k``, ``ndcg_at_k`` and ``confident_accuracy_at_k`` among `metrics`.
    decision : {"own", "half", "prevalence"}
        How predictions are decided: as each learner does, at a probability of one half, or at the prevalence of the
        label. The last two compare learners under one rule, from their probabilities alone. "prevalence" is the rule of
        `estimators.PrevalenceThreshold` with its defaults, which counts labels inside the label masks that the scenario
        shows, whether the learner takes them or not; held-out rows are decided by the usual prevalence. Its time and
        energy count as the learner's.
    also_decide : sequence of {"own", "half", "prevalence"}
        Further rules of decisions that predictions are scored by, beside decision: own, half or prevalence.
        The learner runs once. Each score, curve and matrix in R that depends on decisions is there once more for each
        rule, with the rule behind its name, as ``ba_macro[prevalence]``. Its value is that of an evaluation with this
        `decision`, bit for bit. Only frugality differs: time and energy of further rules count as those of scoring,
        nowhere.
    energy : {"codecarbon", "cpu", "none"}
        How energy is measured: by CodeCarbon, as CPU seconds times a stated power, or not at all. Without a meter in
        the processor, CodeCarbon's figure is mostly a constant power of memory, and so wall time. The record has the
        energy of processor, memory and GPU apart.
    cpu_power_w : float
        Power of a busy core in watts, for the energy method cpu.
    time_cap_s : float, optional
        Seconds after which a run, or a search, is stopped; inf for no cap. None is the same as inf. The clock is read
        between chunks; a run that is stopped keeps what it measured.
    n_checkpoints : int
        Largest number of points of a curve.
    window : int, optional
        Rows that a windowed score covers; by default about a twentieth of the stream. More exactly, the default reaches
        from one checkpoint to the fifth after it.
    chunk_size : int
        Rows per call of a learner; scores do not depend on it. The learner must have `predict_then_fit`; others are
        called row by row. The clock is read after each chunk.
    warm_up_rows : int, optional
        Rows that a learner waits for and then learns in one call; by default as few as it accepts. It is for learners
        that cannot learn from a single row, or from rows of one class; the rows are predicted as before any learning.
        By default a learner that raises a ValueError at the first row is tried again with each row more, up to a
        hundred. The record has the number of rows that were waited for (``warm_up_rows``; 0 for most learners).
    label_budget : float, optional
        Share of the labels that a learner may ask for; by default it is given all. It is then in
        `estimators.LabelBudget`, with the strategy "uncertainty", and learns single labels if it can, else whole rows;
        a learner that is a `LabelBudget`, or is around one, keeps its own. Every label is scored all the same.
        `references` learn all.
    progress : callable, optional
        Called with the number of rows done and the number of rows of the stream; of a live source, with the number of
        rows so far, twice.

    Returns
    -------
    RunResult
        The record, its status "done" or "capped". Scores: ``ba_macro``, ``rmse`` and ``precision_at_k`` over all rows,
        and ``precision_at_k_maximum``, the most that rows with fewer than k labels allow;
        ``ba_macro_anytime``, ``rmse_anytime`` and ``precision_at_k_anytime``, the means of these scores over the rows
        so far, after each row; ``kappa_temporal`` and ``kappa_temporal_macro``, the gain over repeating the last
        labels, and ``no_change_subset_accuracy``, the subset accuracy of repeating them; for each of `metrics`,
        ``NAME`` over all rows and ``NAME_held_out`` on the evaluation sets of the tasks seen;
        all of these over all rows once more with ``[first]`` behind the name, as ``ba_macro[first]``, if rows come at
        their own time and again with late labels (`delayed_labels` with `predict_first`): scores of the first
        prediction of a row, where the others are of the last before the label came, decided by `decision` alone;
        ``share_asked``, ``set_coverage``, ``set_size`` and ``set_size_late``, what `estimators.LabelBudget` and
        `estimators.PredictionSets` count themselves (``counted_scores_``), inside another learner, too;
        ``acc``, ``acc_mean``, ``bwt``, ``fwt``, ``fm`` and the stepwise transfers ``bwt_stepwise``,
        ``bwt_stepwise_gains``, ``bwt_stepwise_losses``, ``fwt_stepwise``, ``fwt_stepwise_gains`` and
        ``fwt_stepwise_losses`` of the balanced accuracies in R; ``frug_kwh`` and ``frug_kj``, see `metrics.frug`. Where
        labels have a hierarchy, also
        ``pw_js``, ``pw_js_mean``, ``jaccard``, ``refinement_jaccard``, ``refinement_recall`` and
        ``hierarchy_consistency`` on the evaluation sets, and ``pw_js_bwt``, ``pw_js_fwt`` and ``pw_js_fm``; where tasks
        are environments, ``nce[NAME]`` in each of them, ``nce_worst``, and ``nce_worst_unseen`` of those with the role
        "unseen". A score that is not defined is None, and ``undefined`` holds the reason; ``left_out`` counts cells of
        R and labels that are left out of means. Scores over tasks leave out those to pre-train on.

    Raises
    ------
    TypeError
        If the estimator cannot learn labels from a stream, as one without `partial_fit`; or estimates no probabilities
        that `decision` and `also_decide` need.
    ValueError
        If the value of an option is not valid, or the estimator does not return decisions and probabilities of the
        right shape.
    RuntimeError
        If energy cannot be measured.

    Warns
    -----
    UndefinedCellsWarning
        Once, with their number, if evaluation sets have no balanced accuracy because no label of the task has both
        classes there.
    Warning
        Of the learner, each once with its number, at the end of the evaluation; the record has them in ``warnings``.

    Notes
    -----
    Before anything is learnt, learners without a start state of their own are recorded as predicting 0 with
    probability 0. The k of precision@k is 3, or the size of the smallest signature.

    In R, balanced accuracy is that of the labels of a task on a pool of evaluation sets: its own under "task"; under
    "seen" also those of all tasks seen by then, and under "all" those of all tasks. So false alarms about a label on
    rows of other tasks count, as they do online, and a constant prediction has 1/2. A row that is in several sets is
    counted with each of them. The other scores in R are those of the rows of one set, of which the labels of its task
    and, under "seen", those of all tasks seen by then count. Unknown labels (NaN) count nowhere.

    Time, memory and energy are those of the learner's calls. A compiled learner compiles at its first call on a new
    installation; `run_campaign` makes such calls beforehand. Learners are asked for decisions and for probabilities
    wherever they have both.

    A live source may never end. Its rows are of one task, under the label space "all", and there are no evaluation
    sets: the record has the prequential scores and curves alone, its ``scenario`` is "live", and it is written without
    R and references. The first chunk sets the columns. Later tables may hold them in another order; other features are
    an error, and so are new labels, unless the learner takes them in (``on_new_labels="grow"``). In the rows before,
    new labels do not count; rows without any label are passed over. Single rows wait for each other, `chunk_size` at
    most, which changes no score. As the length is not known, checkpoints are a power of two of rows apart, which
    doubles whenever there are more than `n_checkpoints`, and a curve ends at the last of them. Memory does not depend
    on the number of rows. The time cap is looked at when the source gives something: what waits for rows, as
    `mlstream.service.follow_csv` does, has a timeout of its own. An error of the source is raised, and no record made.

    References
    ----------
    Hugo Peuzet, Pascale Kuntz, Frank Meyer, Vincent Lemaire, Killian Le Mau, "Apprentissage multi-labels et
    multi-tâches en continu pour données tabulaires", EGC 2025.
    L. Wang, X. Zhang, H. Su, J. Zhu, "A comprehensive survey of continual learning", TPAMI 2024: evaluation with one
    head (all classes seen) or several (the classes of the task).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPClassifier
    >>> from mlstream import Dataset, evaluate, task_stream
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> Y = (X @ [[1, 0, 1], [0, 1, 1], [1, 1, 0]] > 0).astype(np.uint8)
    >>> stream = task_stream(Dataset(X, Y, ("a", "b", "c"), ("k", "l", "m"), name="toy"), n_tasks=2)
    >>> result = evaluate(MLPClassifier(hidden_layer_sizes=()), stream, energy="none")
    >>> result.status, len(result.R["ba_macro"])
    ('done', 5)

    A source whose end nobody knows:

    >>> result = evaluate(MLPClassifier(hidden_layer_sizes=()), zip(X, Y), energy="none")
    >>> result.scenario, result.experience_sizes, "acc" in result.scores
    ('live', [100], False)
    """
    settings = Settings(
        label_space=label_space,
        metrics=metrics,  # type: ignore[arg-type]  # any sequence becomes a tuple there, once it is checked
        references=references,
        one_class=one_class,
        ties=ties,
        decision=decision,
        also_decide=also_decide,  # type: ignore[arg-type]
        energy=energy,
        cpu_power_w=cpu_power_w,
        time_cap_s=time_cap_s,
        n_checkpoints=n_checkpoints,
        window=window,
        chunk_size=chunk_size,
        warm_up_rows=warm_up_rows,
        label_budget=label_budget,
    )
    require_seed(seed)
    if is_live(stream):
        return evaluate_live(estimator, stream, seed, settings, progress)
    stream = as_stream(stream)
    copy = fresh(estimator, seed, stream, label_budget=label_budget)
    require_probabilities(estimator, settings)
    with cpu_part("records"):
        description = describe_run(estimator, stream, seed, settings)
    began_s, run_of = time.perf_counter(), (type(estimator).__name__, stream.card.name, seed)
    _LOG.info("Evaluating %s on %s, seed %d: %d rows in %d experiences", *run_of, stream.n_samples, len(stream))
    warned = collapsed_warnings(type(estimator).__name__)
    with cpu_part("scores"), ResourceMeter(energy, cpu_power_w) as meter, warned as counts:
        learner = adapt_to_stream(copy, stream, meter, settings)
        run = Run(learner, stream, settings)
        run.run(progress)
        resources = meter.report(model_size_bytes(copy))
        bounds = reference_scores(estimator, stream, seed, settings) if references and run.is_complete else None
    description |= {"warm_up_rows": learner.first_rows.n_together, "warnings": counts}
    result = _record(description, stream, run, resources, bounds, settings)
    _LOG.info("Evaluated %s on %s, seed %d: %s in %.1f s", *run_of, result.status, time.perf_counter() - began_s)
    _warn_of_undefined_cells(result)
    return result


def _warn_of_undefined_cells(result: RunResult) -> None:
    left_out = result.left_out.get("ba_macro")
    if left_out is not None:
        warnings.warn(
            f"{left_out.n} of {left_out.of} balanced accuracies on the evaluation sets of {result.stream!r} are "
            "undefined, since no label of the task has both classes there, and left out of means.",
            UndefinedCellsWarning,
            stacklevel=3,
        )


def _record(
    description: dict[str, Any],
    stream: Stream,
    run: Run,
    resources: Resources,
    bounds: list[ReferenceScores] | None,
    settings: Settings,
) -> RunResult:
    with cpu_part("curves"):
        prequential, curves = run.finish()
    record = ScoreRecord(is_complete=run.is_complete)
    matrices, order = without_pretraining(run.R, stream.order, stream.card)
    for place, ending in enumerate(settings.endings):
        part, R = ScoreRecord(is_complete=run.is_complete), decided_by(ending, matrices)
        add_prequential(part, decided_by(ending, prequential))
        add_continual(part, R["ba_macro"], order)
        add_hierarchy(part, R, order)
        add_named(part, R, order, settings.metrics)
        add_environments(part, decided_by(ending, run.R), stream.card)
        if not ending:
            add_constant_labels(part, run.constant_labels)
        if bounds is not None:
            add_references(part, R["ba_macro"], order, bounds[place].without_pretraining(stream.card))
        add_frugality(part, sum_known(phase.energy_kwh for phase in resources.phases.values()))
        record.take(part, ending)
    first = ScoreRecord(is_complete=run.is_complete)
    add_prequential(first, decided_by(FIRST, prequential))
    record.take(first, FIRST)
    add_counted(record, run.estimator)
    return RunResult(
        **description,
        status="done" if run.is_complete else "capped",
        scores=record.values,
        undefined=record.undefined,
        left_out=record.left_out,
        curves=curves,
        R={name: [_to_scores(row) for row in matrix] for name, matrix in run.R.items()},
        references=None if bounds is None else References(**{k: _to_scores(v) for k, v in bounds[0]._asdict().items()}),
        resources=resources,
    )


def _to_scores(values: Floats) -> list[Score]:
    return [to_score(value) for value in values.tolist()]
