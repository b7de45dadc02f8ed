"""Strategies and hyper-parameters of which the published code and ours run the same."""

# rate 0.01, 200 hidden units, memories of 1,000 rows, 5 draws from each: what both have by default
NETWORKS = (
    "NN",
    "NN_TL",
    "NN_TLH",
    "NN_TLH_sampling",
    "NN_TLH_fifo",
    "NN_TLH_memories",
    "NN_TLH_mini_memories",
)
TREES = ("BR_HT", "LC_HT", "CC_HT", "BR_random_forest", "iSOUPtree")
TREE = {"grace_period": 200, "delta": 1e-7, "tau": 0.05}
FOREST = {"n_models": 10, "grace_period": 50, "delta": 1e-7, "tau": 0.05}
