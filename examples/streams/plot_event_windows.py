"""
A stream from a log of alerts
=============================

Alerts and flows are single events. `mlstream.generators.windowed` turns them into rows, one for each window of time of
each host, whose label set is the distinct threats that occurred in it. The log is drawn: threats come in campaigns, on
some of the hosts, and come back.
"""

# %%
# A log of six hosts. An event has a time, a host, a service, two numbers, and perhaps a threat.
import matplotlib.pyplot as plt
import numpy as np

from estimators import LastLabelsClassifier, OnlineNeuralClassifier, PriorLabelsClassifier
from metrics import ba_macro, kappa_temporal, subset_accuracy
from mlstream.generators import scenario_stream, synthetic_events, windowed

log = synthetic_events(n_hosts=6, n_days=10, n_campaigns=4, seed=4)
log

# %%
# Windows of an hour. Features count events and services, and summarise the numbers; the threats are the labels.
table = windowed(log, "1h", empty="keep", time_column="start")
print(table.n_samples, "rows;", ", ".join(table.feature_names))

# %%
# Above, the events of two days, one row for each host; below, the label sets of the windows of all hosts. Where
# several threats hit one host in one hour, its row has a label set of several.
threats, hosts = log.columns["threat"], log.columns["host"]
days = (log.times - log.times[0].astype("datetime64[D]")) / np.timedelta64(1, "D")
figure, (above, below) = plt.subplots(2, 1, figsize=(10, 6), layout="constrained", height_ratios=[1, 1.2])
shown = (days >= 1) & (days < 3)
for code, name in [(-1, "none"), *enumerate(threats.values)]:
    mine = shown & (threats.codes == code)
    style = {"color": "0.8", "s": 3} if code < 0 else {"s": 14}
    above.scatter(days[mine], hosts.codes[mine] + 0.12 * (code - 1), label=name, **style)
above.set(yticks=range(6), yticklabels=hosts.values, xlabel="day", xlim=(1, 3))
above.legend(
    title="single events, by threat",
    ncols=5,
    loc="lower center",
    bbox_to_anchor=(0.5, 1),
    fontsize="small",
    markerscale=2,
)

start = table.X[:, table.feature_names.index("start")]
hour = ((start - start.min()) // 3600).astype(int)
per_hour = np.array([np.bincount(hour, weights=label) for label in table.Y.T])
image = below.imshow(per_hour, aspect="auto", cmap="Oranges", extent=(0, (hour.max() + 1) / 24, 3.5, -0.5))
below.set(yticks=range(4), yticklabels=table.label_names, xlabel="day", title="hosts with the threat, by hour")
figure.colorbar(image, ax=below, label="hosts")

# %%
# The table is in the order of time, and so is a stream of it: each slice is learnt up to 70 percent, and the rest is
# held out.
stream = scenario_stream(table, "online", by="time", n_tasks=4, unlabelled="keep")
stream

# %%
# Detection asks for the threats of the same window, of its flows; a forecast for those of the next window of the same
# host, whose past threats may then be features. Most windows show no threat, and campaigns last for hours, so that
# saying nothing (the prior) is right in 81 percent of the rows. `kappa_temporal` is the accuracy beyond that of
# repeating the row before, which is another host's. The forecast is the better of the two here, because it is told what
# the host suffered from an hour ago.
for horizon, counted in ((0, ["service"]), (1, ["service", "threat"])):
    rows = windowed(log, "1h", empty="keep", horizon=horizon, categories=counted)
    X = np.sign(rows.X) * np.log1p(np.abs(rows.X))
    network = OnlineNeuralClassifier(learning_rate=0.01, random_state=0)
    for learner in (LastLabelsClassifier(), PriorLabelsClassifier(), network):
        predicted, _ = learner.predict_then_fit(X, rows.Y)
        scores = (subset_accuracy(rows.Y, predicted), kappa_temporal(rows.Y, predicted), ba_macro(rows.Y, predicted))
        print(
            f"horizon {horizon} {type(learner).__name__:22}", "accuracy {:.2f}  kappa {:.2f}  BA {:.2f}".format(*scores)
        )
plt.show()
