"""Count what the decisions of each learner cost in alarms, on a log of forty hosts.

    python -m benchmarks.alarms_table StreamRidge BR_LR NN_TL

Four threats come in campaigns for thirty days, two of them for the first time on days 10 and 20; the last eight days
are counted. A row is a half hour of a host, an alarm is one threat of one row, and a row is learnt once it is decided.
The last column ranks the probabilities of these days, and counts what the first 400, fifty a day, would find.
"""

import argparse
import time

import numpy as np
import numpy.typing as npt

from estimators import PrevalenceThreshold, make_strategy
from metrics import recall_at_budget
from mlstream import Events
from mlstream.generators import synthetic_events, windowed

FIRST_DAY = {"worm": 10, "exfiltration": 20}
N_HOSTS, N_DAYS, COUNTED_FROM = 40, 30, 22
BUDGET = 400
SERVICES = {"service": ["http", "dns", "smtp", "ssh", "smb"]}
ONE_DAY = np.timedelta64(1, "D")


def make_rows() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return features on the scale of the first day, labels, and the day of each row."""
    log = synthetic_events(seed=2, n_hosts=N_HOSTS, n_days=N_DAYS, n_campaigns=4, events_per_hour=6.5)
    table = windowed(_without_early_threats(log), "30min", empty="keep", categories=SERVICES, clock=[])
    assert table.keys is not None
    day = (table.keys["start"] - table.keys["start"][0]) // ONE_DAY
    X = np.log1p(table.X)
    first = X[day < 1]
    return (X - first.mean(axis=0)) / np.maximum(first.std(axis=0), 1e-9), table.Y, day


def _without_early_threats(log: Events) -> Events:
    threats = log.texts("threat", "labels")
    first_day = np.array([FIRST_DAY.get(threat, 0) for threat in threats.values] + [0])
    kept = (log.times - log.times[0]) // ONE_DAY >= first_day[threats.codes]
    return log.take(kept)


def main() -> None:
    """Print a line for each learner: alarms a day, their precision and recall, and the recall of a budget."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.alarms_table", description=__doc__)
    parser.add_argument("learners", nargs="+", help="names of strategies")
    parser.add_argument("--decision", default="own", choices=("own", "half", "prevalence"), help="what decides")
    options = parser.parse_args()
    X, Y, day = make_rows()
    counted = day >= COUNTED_FROM
    wanted = Y[counted]
    n_days = N_DAYS - COUNTED_FROM
    print(f"{len(Y):,} rows, {wanted.sum() / n_days:.1f} threats a day\n")
    print(f"{'':22}{'alarms a day':>14}{'precision':>11}{'recall':>8}{f'recall of {BUDGET}':>14}{'CPU s':>8}")
    for name in options.learners:
        began = time.process_time()
        learner = make_strategy(name, random_state=0)
        if options.decision == "prevalence":
            learner = PrevalenceThreshold(learner)
        decided, proba = learner.predict_then_fit(X, Y)
        cpu_s = time.process_time() - began
        raised = (proba >= 0.5 if options.decision == "half" else decided)[counted]
        hits = np.count_nonzero(raised & wanted)
        best = recall_at_budget(wanted, proba[counted], BUDGET)
        precision, recall = hits / max(np.count_nonzero(raised), 1), hits / wanted.sum()
        print(
            f"{name:22}{raised.sum() / n_days:14.0f}{precision:11.2f}{recall:8.2f}{best:14.2f}{cpu_s:8.1f}", flush=True
        )


if __name__ == "__main__":
    main()
