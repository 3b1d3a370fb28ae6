"""The studies of panels and of stable indices: what they recorded, and cells of them with fresh draws."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import binom

import levycollapse as lc

STUDIES = Path(__file__).parents[2] / "studies"


def load(name):
    spec = importlib.util.spec_from_file_location(f"{name}_study", STUDIES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def records(name):
    return json.loads((STUDIES / f"{name}.json").read_text())


def inside(share, recorded, count):
    """Whether a fresh share agrees with the recorded one, which has an error of its own."""
    low, high = binom.ppf([1e-5, 1 - 1e-5], count, recorded) / count
    return low - 0.02 <= share <= high + 0.02


def the_record(name, study, **wanted):
    record = next(r for r in records(name) if all(r[key] == value for key, value in wanted.items()))
    cell = next(c for c in study.cells() if all(c[key] == value for key, value in wanted.items()))
    return record, cell


@pytest.mark.study
@pytest.mark.parametrize("name", ["restoring_drift", "scale_persistence", "stable_index"])
def test_every_cell_is_recorded(name):
    study = load(name)
    assert [[r[k] for k in study.KEYS] for r in records(name)] == [[c[k] for k in study.KEYS] for c in study.cells()]
    for record, cell in zip(records(name), study.cells(), strict=True):
        assert record["repetitions"] >= study.repetitions(cell)


def test_recorded_sizes_and_power_of_the_drift():
    for record in records("restoring_drift"):
        if record["group"] == "null":
            assert record["rejected"] <= 0.07, record
        if record["kind"] == ["model", 1.0, 0.01] and record["checkpoints"] == 40:
            assert record["rejected"] >= 0.75, record


def test_recorded_sizes_and_power_of_persistence():
    for record in records("scale_persistence"):
        if record["group"] == "null" or record["kind"] == ["smooth", 0.9, 0.5]:
            assert record["not_persistent"] <= 0.07, record
        if record["kind"] in (["stable", 1.5], ["jumps", 0.01]) and record["shape"] == [500, 40]:
            assert record["not_persistent"] >= 0.95, record


def test_recorded_coverage_of_the_index():
    for record in records("stable_index"):
        if record["sample"][0] == "stable" and record["method"] in ("ml", "ecf", "quantiles"):
            assert record["coverage"] >= 0.9, record
        if record["sample"] == ["stable", 1.8] and record["method"] == "hill":
            assert record["coverage"] < 0.5, record


def test_a_null_of_the_drift_with_fresh_draws():
    study = load("restoring_drift")
    record, cell = the_record("restoring_drift", study, kind=["static"], seeds=3, checkpoints=40)
    fresh = study.run_cell(cell, 200, salt=1)
    assert inside(fresh["rejected"], record["rejected"], 200)
    assert fresh["kappa_sd"] == pytest.approx(record["kappa_sd"], rel=0.25)


def test_the_study_of_the_drift_does_what_the_public_function_does():
    study = load("restoring_drift")
    zeta, times = study.panel(["jump walk"], 3, 13, np.random.default_rng(1))
    panel = xr.DataArray(zeta, dims=("seed", "unit", "time", "replicate"), coords={"time": times})
    found = lc.panels.restoring_drift(panel)
    assert (found.kappa, found.p_value) == study.estimates(study.block_sums(study.far_left_moves(zeta, times)), 0.95)[
        :2
    ]


def test_a_null_of_persistence_with_fresh_draws():
    study = load("scale_persistence")
    record, cell = the_record("scale_persistence", study, kind=["both scales", 0.5], shape=[256, 26])
    fresh = study.run_cell(cell, 150, salt=1)
    assert inside(fresh["not_persistent"], record["not_persistent"], 150)


def test_the_study_of_persistence_does_what_the_public_function_does():
    study = load("scale_persistence")
    rng = np.random.default_rng(1)
    for kind in (["gauss"], ["stable", 1.5], ["smooth", 0.9, 0.5]):
        x = study.panel(kind, [256, 26], rng)
        assert lc.panels.scale_persistence_test(x, draws=199, rng=2).verdict is study.verdict(x, rng)


def test_a_cell_of_the_index_with_fresh_draws():
    study = load("stable_index")
    record, cell = the_record("stable_index", study, sample=["stable", 1.5], method="ecf", n=200)
    fresh = study.run_cell(cell, 300, salt=1)
    assert inside(fresh["coverage"], record["coverage"], 300)
    assert fresh["median"] == pytest.approx(record["median"], abs=0.04)
