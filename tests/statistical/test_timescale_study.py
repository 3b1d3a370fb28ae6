"""The study of time scale intervals and statuses: what it recorded, and a cell of it with fresh units."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

STUDY = Path(__file__).parents[2] / "studies" / "timescale_status.py"


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("timescale_status_study", STUDY)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def records():
    return json.loads(STUDY.with_suffix(".json").read_text())


def test_recorded_coverage_and_statuses(study, records):
    assert len(records) == len(study.CELLS)
    for record in records:
        assert record["units"] >= 8000
        assert 0.94 <= record["coverage"] <= 0.96
        tau = record["tau, sd, memory, law, B, T"][0]
        status = record["status"]
        # A unit that decays is hardly ever called growing; one that does not, seldom resolved, and seldom growing.
        assert status["GROWING"] <= (0.035 if tau == "inf" or tau > 1000 else 0.001)
        if tau == "inf":
            assert status["RESOLVED"] <= 0.035
        assert 1.1 < record["variance of the slope / variance of the mean"] < 1.6


def test_a_cell_with_fresh_units(study, records):
    fresh = study.run_cell(7, range(1000, 1002))
    n = fresh["units"]
    for name, share in {"coverage": records[7]["coverage"], **records[7]["status"]}.items():
        found = fresh["coverage"] if name == "coverage" else fresh["status"][name]
        assert abs(found - share) <= 4 * np.sqrt(max(share * (1 - share), 1 / n) / n), name
    ratio = "variance of the slope / variance of the mean"
    assert abs(fresh[ratio] / records[7][ratio] - 1) < 0.25
