from __future__ import annotations

import os

# One thread a worker: the suite itself runs on two.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("levycollapse", deadline=None, derandomize=True, max_examples=150)
settings.load_profile("levycollapse")

#: The reference model (kappa, eta_G, eta_J, alpha, lam) used throughout the tests.
REFERENCE: dict[str, float] = {"kappa": 1.0, "eta_G": 0.1, "eta_J": 0.62, "alpha": 1.5, "lam": 3.0}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the tests marked `full` too")
    parser.addoption("--study", action="store_true", help="run the tests marked `study` too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {"full": "runs in `make test-full`", "study": "runs with `pytest --study` only"}
    for marker, reason in reasons.items():
        if not config.getoption(f"--{marker}"):
            for item in items:
                if marker in item.keywords:
                    item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def reference() -> dict[str, float]:
    return dict(REFERENCE)


@pytest.fixture
def without_saving(monkeypatch):
    """Pictures are drawn but not rendered, which takes seconds; the examples of the help in tests/cli are."""

    def save(axes, stem):
        files = [Path(f"{stem}.{ending}") for ending in ("png", "pdf")]
        for path in files:
            path.touch()
        return files

    monkeypatch.setattr("levycollapse.plotting.save_figure", save)
