"""What the pages on networks and tails show is what happens."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("page", "examples"), [("networks", 20), ("tails", 12)])
def test_examples(page, examples):
    results = doctest.testfile(str(ROOT / "docs" / f"{page}.md"), module_relative=False)
    assert results.attempted >= examples
    assert results.failed == 0


def ranges(study, quantity, chosen, digits):
    """Cells of a row: smallest and largest value of a study at 64, 512 and 4096 units."""
    records = json.loads((ROOT / "studies" / f"{study}.json").read_text())
    cells = []
    for width in (64, 512, 4096):
        values = [item[quantity] for item in records if item["width"] == width and chosen(item)]
        low, high = (f"{end(values):.{digits}f}" for end in (min, max))
        cells.append(low if low == high else f"{low}-{high}")
    return " | ".join(cells)


def test_tables_are_those_of_the_studies():
    page = (ROOT / "docs" / "tails.md").read_text()

    def covered(kind):
        return lambda item: item["group"] == "asked" and item["censored"] == kind

    def model(group, *ends):
        return lambda item: (
            item["group"] == group
            and item["spectrum"][0] == "model"
            and tuple(item["spectrum"][3:]) in ends
            and item["censored"] == "none"
        )

    def lognormal(item):
        return item["group"] == "null" and item["spectrum"][0] == "log-normal" and item["censored"] == "none"

    betas = model("power", *(("beta", beta) for beta in (0.42, 0.8, 1.0)))
    for row in (
        ranges("spectrum_coverage", "coverage", covered("none"), 3),
        ranges("spectrum_coverage", "coverage", covered("limit"), 3),
        ranges("spectrum_verdict", "power", lognormal, 2),
        ranges("spectrum_verdict", "power", betas, 2),
        ranges("spectrum_verdict", "power", model("other", ("beta", 1.5)), 2),
        ranges("spectrum_verdict", "power", model("other", ("beta", 2.5)), 2),
        ranges("spectrum_verdict", "power", model("other", ("ratio", 0.5)), 2),
        ranges("spectrum_verdict", "power", model("other", ("ratio", 1.0)), 2),
    ):
        assert f"| {row} |" in page, row
