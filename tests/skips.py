"""Count skipped tests by reason; where ``MLSTREAM_FORBID_SKIPS`` is set, fail on any that is not allowed.

``allowed_skips.txt`` lists the skips that are allowed, a line each: a pattern of the test's name, ``|``, the reason.
"""

import os
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

ALLOWED = Path(__file__).with_name("allowed_skips.txt")
FORBID = "MLSTREAM_FORBID_SKIPS"


class Skip(NamedTuple):
    """A skipped test, or a skipped file of tests, and the reason."""

    test: str
    reason: str


def read_allowed(path: Path = ALLOWED) -> list[str]:
    """Read the patterns of the tests that may be skipped; each needs a reason."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [line.partition("|") for line in lines if line and not line.startswith("#")]
    for pattern, _, reason in pairs:
        if not reason.strip():
            raise pytest.UsageError(f"{path.name}: each line must be PATTERN | REASON. Got {pattern!r} instead.")
    return [pattern.strip() for pattern, _, _ in pairs]


def find_faults(skips: Iterable[Skip], files: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """Return a line for each skip that is not allowed and each allowed one that did not occur in the files that ran."""
    skips, files, allowed = list(skips), set(files), list(allowed)
    faults = [
        f"{skip.test} must not be skipped: {skip.reason}"
        for skip in skips
        if not any(fnmatchcase(skip.test, pattern) for pattern in allowed)
    ]
    unused = [pattern for pattern in allowed if not any(fnmatchcase(skip.test, pattern) for skip in skips)]
    faults += [
        f"{pattern} is no longer skipped: remove its line from {ALLOWED.name}"
        for pattern in unused
        if pattern.partition("::")[0] in files
    ]
    return faults


def summarize(skips: Iterable[Skip]) -> str:
    """Return one line: how many tests were skipped, and why, the most frequent reason first."""
    reasons = Counter(skip.reason for skip in skips)
    parts = [f"{count} {reason}" for reason, count in reasons.most_common()]
    return f"{reasons.total()} skipped: {'; '.join(parts)}" if parts else "0 skipped"


def _skips(config: pytest.Config) -> list[Skip]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return [Skip(report.nodeid, _reason(report)) for report in reporter.stats.get("skipped", [])]


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    # pytest reports a skip as file, line and message
    message = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return message.removeprefix("Skipped: ")


def _faults(config: pytest.Config) -> list[str]:
    if not os.environ.get(FORBID):
        return []
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = [report for kind in ("passed", "failed", "skipped") for report in reporter.stats.get(kind, [])]
    return find_faults(_skips(config), {report.nodeid.partition("::")[0] for report in reports}, read_allowed())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run where skips are forbidden and there is a fault; only the process that reports knows them all."""
    if not hasattr(session.config, "workerinput") and _faults(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the faults, and last the line of counts."""
    for fault in _faults(config):
        terminalreporter.write_line(f"ERROR {fault}", red=True)
    terminalreporter.write_line(summarize(_skips(config)))
