"""
A campaign on a Dask cluster
============================

Forty runs on a laptop take an evening, on the machines of the group an hour. The same campaign runs on a Dask cluster:
workers are sent the streams, and the records come back to your folder. This one has two workers, on this machine.
"""

# %%
# `SubprocessCluster` listens on the loopback address only. Each worker has one thread, since the CPU time of a run is
# that of its process. For other machines, start ``dask scheduler`` and ``dask worker``, and pass their address.
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from distributed import SubprocessCluster

from mlstream import run_campaign, task_stream

streams = [task_stream("yeast", n_tasks=4, seed=seed, name=f"yeast-{seed}") for seed in range(4)]
strategies = ["NN_TL", "StreamRidge", "BR_HT", "1NN", "mean"]

# %%
# `run_campaign` connects by the address. It reports its progress to any function: here, the runs that have ended.
ended = []
with (
    TemporaryDirectory() as folder,
    SubprocessCluster(
        host="127.0.0.1", n_workers=2, worker_kwargs={"nthreads": 1}, scheduler_kwargs={"dashboard": False}
    ) as cluster,
):
    runs = run_campaign(
        strategies,
        streams,
        [0],
        folder,
        energy="none",
        dask=cluster.scheduler_address,
        progress=lambda event: ended.append(event) if event.state == "done" else None,
    )
runs.to_frame().pivot(index="strategy", columns="stream", values="ba_macro").round(3)

# %%
# Each worker takes the next run as soon as it has ended one. A bar is a run, in CPU seconds of its worker, which begins
# by importing packages. Where a learner is new to a worker, its run is longer: the compiled loops are loaded.
figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
colours = dict(zip(strategies, ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#999999"), strict=True))
workers = sorted({event.cpu.worker for event in ended})
for event in ended:
    began_s, ended_s = event.cpu.began_ns / 1e9, event.cpu.ended_ns / 1e9
    bar = {"color": colours[event.strategy], "edgecolor": "white", "height": 0.7}
    axis.barh(workers.index(event.cpu.worker), ended_s - began_s, left=began_s, **bar)
axis.set(yticks=range(len(workers)), yticklabels=[f"worker {number + 1}" for number in range(len(workers))])
axis.set(xlabel="CPU seconds of the worker", ylim=(-0.5, len(workers) - 0.5), xlim=(0, None))
keys = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours.values()]
figure.legend(keys, colours, loc="outside upper center", ncols=len(colours), frameon=False)
axis.spines[["top", "right"]].set_visible(False)
plt.show()
