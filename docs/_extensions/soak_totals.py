"""Sum the ledger of the soak into the tables of its page."""

from __future__ import annotations

from collections.abc import Iterator

from tests.soak.ledger import read_ledger, summarize, totals


def describe_soak() -> Iterator[str]:
    """Yield the lines of a table for each part, in reStructuredText."""
    entries = read_ledger()
    for summary in summarize(entries):
        title = f"{summary.part}: {summary.hours:.1f} h, seeds: {summary.n_seeds}, failures: {summary.n_failures}"
        yield from (
            f".. list-table:: {title}",
            "   :header-rows: 1",
            "   :widths: 70 15 15",
            "",
            "   * - Tried",
            "     - Times",
            "     - Seeds",
        )
        for total in totals(entries):
            if total.part == summary.part:
                yield from (f"   * - {total.name}", f"     - {total.n_tried:,}", f"     - {total.n_seeds}")
        yield ""
