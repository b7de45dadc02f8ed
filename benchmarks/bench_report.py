"""The page of the whole benchmark: its size, the time to write it, and the time that a browser takes to open it.

Asked for: 17 strategies on 9 streams, 5 seeds each, in a page under 10 MB that opens in under 2 s: loaded, and its
first figure drawn. The records are made up, as full as real ones: 15 scores, 3 curves of 100 points, 3 matrices R, 10
trials. Opening needs Chromium; without it, only size and time of writing are measured. Others may use the machine: the
smallest of several times counts, and the median is printed beside it.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from harness import demand, sized

from mlstream.records.run_record import save_card, save_run
from mlstream.records.run_result import Curve, RunResult
from mlstream.records.selection_record import Selection, Trial
from mlstream.reporting.report import report

# The browser's driver and the cards are those of the tests.
sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.mlstream.records.run_records import ORDER, SIZES, TASKS, make_card, make_run
from tests.mlstream.reporting.browser import Browser, find_chromium

# Labels of the nine streams of the supplement.
N_LABELS = {"monolab": 4, "bilab": 4, "rand": 4, "Yeast": 14, "Slashdot": 20, "Reuters-K500": 99, "Scene": 6} | {
    "20NG": 20,
    "Mediamill": 101,
}
N_STRATEGIES, N_SEEDS, N_TRIALS, N_CHECKPOINTS, N_OPENINGS = sized((17, 5, 10, 100, 5), (2, 1, 2, 20, 1))
CURVES = ("ba_macro", "rmse", "precision_at_k")
STEPWISE = [f"{transfer}_stepwise{part}" for transfer in ("bwt", "fwt") for part in ("", "_gains", "_losses")]
SCORES = (*CURVES, "acc", "acc_mean", "bwt", "fwt", "fm", *STEPWISE, "frug")

# Written down by the page itself, in milliseconds since the navigation began.
NOTE_FIRST_FIGURE = """
new MutationObserver((_, observer) => {
  if (!document.querySelector(".plot .main-svg")) return;
  requestAnimationFrame(() => { window.firstFigure = performance.now(); });
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
"""


def write_records(folder: Path) -> None:
    """Make up a campaign."""
    rng = np.random.default_rng(0)
    for stream, n_labels in N_LABELS.items():
        save_card(make_card(stream, n_labels=n_labels), folder)
        for strategy in range(N_STRATEGIES):
            for seed in range(N_SEEDS):
                save_run(make_record(f"strategy_{strategy:02}", seed, stream, rng), folder)


def make_record(strategy: str, seed: int, stream: str, rng: np.random.Generator) -> RunResult:
    """Make up a run, every number to its last digit, as measured ones are."""
    n_rows = np.linspace(sum(SIZES) / N_CHECKPOINTS, sum(SIZES), N_CHECKPOINTS).astype(int).tolist()
    curves = {
        name: Curve(n_rows=n_rows, cumulative=walk(rng), windowed=walk(rng), window=sum(SIZES) // 20) for name in CURVES
    }
    trials = [
        Trial(parameters={"learning_rate": 0.1, "hidden_units": 200 + place}, status="done", ba_macro=rng.random())
        for place in range(N_TRIALS)
    ]
    return make_run(
        strategy,
        seed,
        stream,
        scores={name: rng.random() for name in SCORES},
        curves=curves,
        R={name: rng.random((len(ORDER) + 1, len(TASKS))).tolist() for name in CURVES},
        selection=Selection(trials=trials, chosen=int(rng.integers(N_TRIALS))),
    )


def walk(rng: np.random.Generator) -> list[float | None]:
    """Make up a curve."""
    return (0.7 + rng.normal(0, 0.01, N_CHECKPOINTS).cumsum() / 10).tolist()


def open_page(chromium: str, page: Path, folder: Path) -> dict[str, list[float]]:
    """Open the page several times; give seconds since the navigation began."""
    seconds: dict[str, list[float]] = {"loaded": [], "first figure drawn": []}
    with Browser(chromium, folder / "profile") as browser:
        browser.send("Page.addScriptToEvaluateOnNewDocument", source=NOTE_FIRST_FIGURE)
        for _ in range(N_OPENINGS):
            browser.open(page)
            browser.wait_until("window.firstFigure > 0")
            seconds["loaded"].append(browser.run("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000)
            seconds["first figure drawn"].append(browser.run("window.firstFigure") / 1000)
            assert browser.problems == []
    return seconds


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_records(folder / "campaign")
        began = time.perf_counter()
        page = report(folder / "campaign")
        n_runs = len(N_LABELS) * N_STRATEGIES * N_SEEDS
        print(f"{n_runs} runs: written in {time.perf_counter() - began:.1f} s")
        megabytes = page.stat().st_size / 1e6
        print(f"size: {megabytes:.2f} MB (asked for: below 10)")
        demand(megabytes < 10, "below 10 MB")
        chromium = find_chromium()
        if chromium is None:
            print("not opened: needs Chromium (apt-get install chromium)")
            return
        for what, seconds in open_page(chromium, page, folder).items():
            print(f"{what}: {min(seconds):.2f} s, median {median(seconds):.2f} s (asked for: below 2)")
            demand(min(seconds) < 2, "below 2 s")


if __name__ == "__main__":
    main()
