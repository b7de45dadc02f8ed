"""
Publish a stream, read it back anywhere
=======================================

A published stream is a folder: the data, a card that says how they were made, and hashes. Whoever reads it need not
have mlstream. Here River and pandas read the rows, and find the same labels as mlstream does.
"""

# %%
# Publish four tasks of the embedded Yeast data. `publish` writes everything or nothing. `verify` reads it again and
# compares all hashes, and the data with the card.
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from river import stream as river_stream

from mlstream import load, publish, task_stream, verify

stream = task_stream("yeast", n_tasks=4, seed=1)
labels = stream.card.label_names
place = TemporaryDirectory()
folder = publish(stream, Path(place.name) / "yeast", licence="CC-BY-4.0", citation="Elisseeff and Weston 2001")
verify(folder)
for path in sorted(folder.iterdir()):
    print(f"{path.stat().st_size:9,} bytes  {path.name}")

# %%
# mlstream reads the folder: tasks, experiences, masks and evaluation sets, bit for bit: the cards state the hash of the
# data.
again = load(folder / "stream.npz")
print(again, "equal" if again.card.data_sha256 == stream.card.data_sha256 else "other data")

# %%
# River reads the ARFF file as it reads any other, row by row.
rows = river_stream.iter_arff(str(folder / "stream.arff"), target=labels)
of_river = np.array([[int(y[label]) for label in labels] for _, y in rows])
of_river.shape

# %%
# pandas reads Parquet, which also has the experience and the task of each row.
frame = pd.read_parquet(folder / "stream.train.parquet")
frame.groupby(["experience", "task"])[labels[:5]].mean().round(2)

# %%
# Hugging Face's library ``datasets`` loads the whole folder, by its path or from the Hub. ``from_datasets`` makes a
# stream of what it loads, equal to the published one:
#
# .. code-block:: python
#
#    from datasets import load_dataset
#    from mlstream.interop import from_datasets
#
#    stream = from_datasets(load_dataset(str(folder)), folder / "stream.card.json")

# %%
# The frequency of each label, as each reader sees it.
of_mlstream = np.concatenate([experience.Y for experience in again]).mean(axis=0)
order = np.argsort(of_mlstream)
figure, axis = plt.subplots(figsize=(7.5, 5), layout="constrained")
axis.hlines(range(len(labels)), 0, of_mlstream[order], color="0.85", linewidth=5)
axis.plot(of_mlstream[order], range(len(labels)), "o", markersize=15, color="C0", alpha=0.5, label="mlstream, NPZ")
axis.plot(of_river.mean(axis=0)[order], range(len(labels)), "s", markersize=7, color="C1", label="River, ARFF")
axis.plot(frame[labels].mean().to_numpy()[order], range(len(labels)), "k+", markersize=14, label="pandas, Parquet")
axis.set(yticks=range(len(labels)), yticklabels=np.array(labels)[order], xlabel="share of the rows", xlim=(0, None))
axis.legend(loc="lower right")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
place.cleanup()
