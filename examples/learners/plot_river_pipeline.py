"""
A pipeline of River as a learner
================================

You have a pipeline of River that works. It joins an evaluation as it is, beside a pipeline of scikit-learn's and our
parts, on the same rows and under the same rule.
"""

# %%
# Features on very different scales, as in a log of network flows: thousands of bytes beside fractions of a second.
import matplotlib.pyplot as plt
import numpy as np
from river import linear_model, preprocessing
from sklearn.preprocessing import StandardScaler

from estimators import OnlineNeuralClassifier, StreamPipeline
from mlstream import Dataset, evaluate
from mlstream.generators import scenario_stream
from mlstream.plotting import ScoreCurvesDisplay

rng = np.random.default_rng(0)
unit = rng.normal(size=(3000, 3))
Y = unit @ rng.normal(size=(3, 4)) + rng.normal(0, 0.3, (3000, 4)) > 0.5
table = Dataset(unit * [1500, 1, 0.02] + [4000, 5, 0.1], Y, ["bytes", "seconds", "rate"], name="flows")
stream = scenario_stream(table, "instance-incremental", learning_fractions=(0.7,), seed=0)

# %%
# River's operator ``|`` makes a pipeline. Labels are learnt one by one: each has a copy of the model, and the record
# states the wrapper. `StreamPipeline` is the same idea with the parts of scikit-learn: it predicts a row with a scaler
# that has learnt the rows before, and learns it then.
learners = {
    "River, no scaler": linear_model.LogisticRegression(),
    "River, scaled": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    "StreamPipeline": StreamPipeline([("scale", StandardScaler()), ("learn", OnlineNeuralClassifier())]),
}
results = {name: evaluate(learner, stream, energy="none") for name, learner in learners.items()}
for name, result in results.items():
    print(f"{name:18} BA_macro {result.scores['ba_macro']:.3f}  {result.wrapped_as or 'not wrapped'}")

# %%
# Without a scaler the bytes drown all other features: every step throws the weights from one side to the other. The two
# pipelines that scale as they go soon predict equally well.
figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
ScoreCurvesDisplay.from_results(results, ax=axis)
axis.legend(loc="center right")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
