"""What Prometheus scrapes is what the tables of monitors say."""

import numpy as np
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from mlstream.service import Monitor, MonitorCollector


@pytest.fixture
def monitors():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 3)), (rng.random((400, 2)) < 0.3).astype(int)
    X[200:, 1] += 2
    served = Monitor(window=100, budget=5, feature_names=["a", 'b "quoted"\n', "c"], label_names=["scan", "worm"])
    served.update(X, Y[::-1], Y, y_proba=rng.random(Y.shape))
    return {"served": served, "shadow": Monitor()}


def test_the_text_is_read_as_what_the_tables_say(monitors):
    families = {one.name: one for one in text_string_to_metric_families(MonitorCollector(monitors).text())}
    found = {
        (sample.name, *(sample.labels.get(key) for key in ("monitor", "feature", "label"))): sample.value
        for one in families.values()
        for sample in one.samples
    }
    served = monitors["served"]
    assert found["mlstream_rows_total", "served", None, None] == 400
    assert found["mlstream_rows_total", "shadow", None, None] == 0
    assert found["mlstream_alarm_budget", "served", None, None] == 5
    assert found["mlstream_ba_macro", "served", None, None] == served.to_frame()["ba_macro"].iloc[-1]
    for place, row in enumerate(served.to_frame("features").tail(3).itertuples()):
        assert found["mlstream_feature_psi", "served", row.feature, None] == row.psi
        assert found["mlstream_drifted_windows_total", "served", row.feature, None] == served.n_drifted_[place]
    for place, row in enumerate(served.to_frame("labels").tail(2).itertuples()):
        assert found["mlstream_label_brier", "served", None, row.label] == row.brier
        assert found["mlstream_alarms_total", "served", None, row.label] == served.n_alarms_[place]
    # as documented: of the monitor, of three features, and of two labels
    assert sum(key[1] == "served" for key in found) == 11 + 3 * 3 + 7 * 2


def test_a_registry_takes_one_collector(monitors):
    registry = CollectorRegistry(auto_describe=True)
    registry.register(MonitorCollector(monitors))
    assert registry.get_sample_value("mlstream_windows_total", {"monitor": "served"}) == 4
    with pytest.raises(ValueError, match="Duplicated timeseries"):
        registry.register(MonitorCollector({"other": Monitor()}))


@pytest.mark.parametrize("monitors", [{1: Monitor()}, {"served": 1}, Monitor()])
def test_anything_but_monitors_by_name_is_refused(monitors):
    with pytest.raises(TypeError, match="monitors must map names to monitors"):
        MonitorCollector(monitors)
