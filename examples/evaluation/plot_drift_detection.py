"""
Drift detectors against the truth
=================================

Three concepts follow each other, each twice. Detectors read the errors of a learner; the card of the stream holds the
drifts, so that every alarm is known to be in time, or false.
"""

import matplotlib.pyplot as plt
import numpy as np

from estimators import make_strategy
from mlstream import detect
from mlstream.evaluation.detect import true_drifts
from mlstream.generators import drifting_stream

stream = drifting_stream("hyperplane", seed=2, n_rows=5000, window=300)
drifts = true_drifts(stream)
[(drift.start, drift.stop, drift.what) for drift in drifts]

# %%
# Each detector is given the errors of Hoeffding trees, which predict every row before they learn it. An alarm is in
# time up to 600 rows after the end of a drift. ``LabelDrift`` watches each label on its own.

names = ("ADWIN", "DDM", "HDDMW", "KSWIN", "LabelDrift")
found = [detect(name, stream, learner="BR_HT", max_delay=600) for name in names]
for one in found:
    scores = {name: one.scores[name] for name in ("detection_rate", "f1", "mean_delay", "n_false_alarms")}
    print(f"{one.detector:11}", {name: value if value is None else round(value, 2) for name, value in scores.items()})

# %%
# Above, the share of rows with a wrong label, over 200 rows. Below, the alarms: dots are in time, crosses are false.

X, Y = (np.concatenate([getattr(experience, part) for experience in stream]) for part in "XY")
decided, _ = make_strategy("BR_HT").predict_then_fit(X, Y)
errors = np.convolve((decided != Y).any(axis=1), np.ones(200) / 200, mode="valid")

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
above.plot(np.arange(199, len(Y)), errors, color="black", linewidth=1)
above.set(ylabel="rows with an error", xlim=(0, len(Y)))
for lane, one in enumerate(found):
    in_time = [alarm.row for alarm in one.alarms if alarm.drift is not None]
    false = [alarm.row for alarm in one.alarms if alarm.drift is None]
    below.plot(in_time, [lane] * len(in_time), "o", color="C0", label="in time" if lane == 0 else None)
    below.plot(false, [lane] * len(false), "x", color="C1", label="false" if lane == 0 else None)
for panel in (above, below):
    for drift in drifts:
        panel.axvspan(drift.start, drift.stop + 600, color="0.9", linewidth=0)
        panel.axvline(drift.start, color="0.5", linestyle=":")
below.set_yticks(range(len(found)), [one.detector for one in found])
below.set(xlabel="row of the stream", ylim=(len(found) - 0.5, -0.5))
below.legend(loc="center", bbox_to_anchor=(0.5, 0.3), ncols=2, framealpha=1)
plt.show()

# %%
# A campaign gives several detectors the errors of several learners, and its report draws this for each stream:
# ``mlstream detect STREAM --learner BR_HT --output results``, then ``mlstream report results``.
