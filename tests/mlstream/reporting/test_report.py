import base64
import gzip
import json
import os
import re
from html.parser import HTMLParser

import pytest

from mlstream.records.run_record import save_card, save_run
from mlstream.reporting.report import report
from mlstream.streams.card_model import TermsCard
from tests.mlstream.records.run_records import STRATEGIES, make_card, make_failed, make_run, write_campaign


class Page(HTMLParser):
    """Collects what a browser would load, run, or jump to."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.addresses, self.ids, self.references, self.words = [], [], [], [], []
        self._open = []
        self.n_plots = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self._open.append(tag)
        if tag == "script":
            self.scripts.append("")
        self.n_plots += "data-chart" in attributes
        self.addresses += [attributes[name] for name in ("src", "href", "srcset", "action") if name in attributes]
        self.ids += [attributes["id"]] if "id" in attributes else []
        for name in ("aria-labelledby", "aria-describedby"):
            self.references += [attributes[name]] if name in attributes else []

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] == "script":
            self.scripts[-1] += data
        elif "style" not in self._open:
            self.words.append(data)


def packed(page):
    """Unpack what the page holds packed: its charts, a line each, and Plotly."""
    charts, plotly = (script for script in page.scripts if script.startswith("H4sI"))
    return tuple(gzip.decompress(base64.b64decode(script)).decode() for script in (charts, plotly))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    return write_campaign(tmp_path_factory.mktemp("campaign"))


@pytest.fixture(scope="module")
def text(campaign):
    return report(campaign).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_is_written_beside_the_records_or_where_asked(campaign, tmp_path):
    assert report(campaign) == campaign / "report.html"
    assert report(campaign, tmp_path / "new" / "page.html").exists()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["page.html"]


def test_the_page_loads_nothing_and_is_small_enough_to_send(text):
    page = Page(text)
    assert [address for address in page.addresses if not address.startswith("#")] == ["data:,"]
    charts, plotly = packed(page)
    own = charts + re.sub(r">H4sI[^<]*<", "><", text)
    assert not re.search(r"(https?:)?//\w", own), "an address outside Plotly's own script"
    assert "plotly.js" in plotly[:200]
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert len(text.encode()) < 4e6


def test_every_reference_inside_the_page_resolves(text):
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids)
    targets = [address[1:] for address in page.addresses if address.startswith("#")]
    assert set(targets + page.references) <= set(page.ids)
    assert len(targets) > 5


def test_every_strategy_score_and_reason_is_on_the_page(text):
    words = "".join(Page(text).words)
    assert all(strategy in words for strategy in STRATEGIES)
    assert all(
        title in words
        for title in ("BA_macro", "ACC", "BWT", "FWT", "FM", "Frug (kWh)", "Frug (kJ)", "RMSE", "Precision@k")
    )
    assert "ValueError: X must be finite." in words
    assert "Stopped at the time cap of 10800.0 s" in words
    assert "CC BY 4.0" in words
    assert "Example CPU, 2 cores" in words


def test_the_same_records_give_the_same_page(campaign, text):
    assert report(campaign).read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_names_that_hold_html_stay_names(tmp_path):
    evil = "</script><script>hacked()</script><img src=x onerror=hacked()>"
    card = make_card(evil, tasks=(evil, "task 1", "task 2", "task 3"))
    terms = TermsCard(title=evil, description=evil, licence=evil, citation=evil, creators=[evil, "Ada Lovelace"])
    changes = {"label_names": [evil, *card.label_names[1:]], "description": evil, "terms": terms}
    save_card(card.model_copy(update=changes), tmp_path)
    names = {"stream": evil, "task_names": [evil, "task 1", "task 2", "task 3"], "estimator": evil}
    save_run(make_run("<script>", 0, **names, parameters={evil: evil}, machine={evil: evil}), tmp_path)
    save_run(make_failed("<b>", 0, evil).model_copy(update={"error": f"{evil}\n{evil}"}), tmp_path)
    page, clean = Page(report(tmp_path).read_text(encoding="utf-8")), write_campaign(tmp_path / "clean")
    usual = Page(report(clean).read_text(encoding="utf-8"))
    assert not [script for script in page.scripts if script.startswith("hacked")]
    assert len(page.scripts) == len(usual.scripts) == 4
    assert "x" not in page.addresses
    assert evil in "".join(page.words)
    assert f"{evil}, Ada Lovelace" in "".join(page.words)
    charts = [json.loads(line) for line in packed(page)[0].split("\n")]
    # The browser sets summaries as text; Plotly reads tags in all the rest.
    drawn = [[{key: part for key, part in view.items() if key != "summary"} for view in views] for views in charts]
    assert len(charts) == page.n_plots
    assert "&lt;/script&gt;" in json.dumps(drawn)
    assert not re.search("<(/?script|img)", json.dumps(drawn))


def test_all_scores_are_written_as_csv_when_asked(campaign, tmp_path):
    page = report(campaign, tmp_path / "page.html", tables=True)
    lines = page.with_suffix(".csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "stream,strategy,score,better,mean,standard_deviation,seeds,parameters"
    assert sum(line.startswith("yeast,NN_TL,acc,higher,") for line in lines) == 1


@pytest.mark.slow
def test_an_older_page_is_replaced_only_by_a_whole_one(campaign, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("older")
    monkeypatch.setattr(
        "mlstream._support.files.flush_to_disk", lambda path: (_ for _ in ()).throw(OSError("disk full"))
    )
    with pytest.raises(OSError, match="disk full"):
        report(campaign, page)
    assert page.read_text() == "older"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    monkeypatch.undo()
    report(campaign, page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="must hold records of runs"):
        report(tmp_path)
    with pytest.raises(FileNotFoundError, match="must hold records of runs"):
        report(tmp_path / "absent")


def test_a_record_of_another_version_is_refused_by_name(tmp_path):
    write_campaign(tmp_path, strategies=("NN",))
    path = tmp_path / "runs" / "yeast" / "NN-seed1.json"
    path.write_text(path.read_text().replace('"schema_version": 2', '"schema_version": 99'))
    with pytest.raises(ValueError, match=r"NN-seed1\.json must hold a RunResult of this version"):
        report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_a_missing_card_is_named(tmp_path):
    write_campaign(tmp_path, streams=("a", "b"), strategies=("NN",))
    (tmp_path / "streams" / "b.card.json").unlink()
    with pytest.raises(
        FileNotFoundError,
        match=r"the card of every stream that was run: the same command.* Got no card of b\.",
    ):
        report(tmp_path)


def test_a_folder_or_a_device_cannot_be_the_page(campaign, tmp_path):
    with pytest.raises(OSError, match=r"must be a plain file, or absent\. Got a folder"):
        report(campaign, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"must be a plain file, or absent\. Got a device"):
        report(campaign, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_runs_of_several_label_spaces_on_one_stream_are_not_compared(tmp_path):
    write_campaign(tmp_path, strategies=("NN",))
    save_run(make_run("NN_TL", label_space="seen"), tmp_path)
    with pytest.raises(ValueError, match=r"must share a label space .* Got task and seen on 'yeast'\.$"):
        report(tmp_path)


def test_frugality_by_several_meters_is_not_compared(tmp_path):
    write_campaign(tmp_path, strategies=("NN",))
    other = make_run("NN_TL")
    used = other.resources.model_copy(update={"energy_method": "CPU seconds x 15 W (stated, not measured)"})
    save_run(other.model_copy(update={"resources": used}), tmp_path)
    with pytest.raises(ValueError, match=r"must share a meter of energy .* Got codecarbon and CPU on 'yeast'\.$"):
        report(tmp_path)


def test_runs_without_a_meter_are_compared_with_measured_ones(tmp_path):
    write_campaign(tmp_path, strategies=("NN",))
    other = make_run("NN_TL")
    used = other.resources.model_copy(update={"energy_method": "none"})
    scores = other.scores | {"frug_kwh": None, "frug_kj": None}
    save_run(other.model_copy(update={"resources": used, "scores": scores}), tmp_path)
    assert report(tmp_path).exists()


def test_an_older_rule_of_the_same_name_is_another_label_space(tmp_path):
    save_card(make_card(), tmp_path)
    save_run(make_run("NN", label_space="seen"), tmp_path)
    save_run(make_run("NN_TL", label_space="seen", schema_version=1), tmp_path)
    with pytest.raises(ValueError, match=r"Got seen and seen \(records of version 1\) on 'yeast'"):
        report(tmp_path)


@pytest.mark.slow
def test_the_page_states_who_was_given_all_labels_and_the_label_space_of_each_stream(tmp_path):
    write_campaign(tmp_path, streams=("yeast", "other"), strategies=("NN",))
    for seed in (0, 1):
        save_run(make_run("NN_TL", seed, given_labels="all"), tmp_path)
    for path in (tmp_path / "runs" / "other").iterdir():
        path.write_text(path.read_text().replace('"label_space": "task"', '"label_space": "seen"'))
    page = report(tmp_path).read_text()
    assert page.count("strategies that use it were given all labels (NN_TL).") == 1
    assert "those of all tasks seen so far: other; those of the row&#39;s task: yeast" in page
