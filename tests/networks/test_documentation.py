"""What the pages on networks and tails show is what happens."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("page", "examples"), [("networks", 20), ("tails", 12)])
def test_examples(page, examples):
    results = doctest.testfile(str(ROOT / "docs" / f"{page}.md"), module_relative=False)
    assert results.attempted >= examples
    assert results.failed == 0
