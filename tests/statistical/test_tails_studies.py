"""The studies of tails: what they recorded, and cells of them with fresh draws through the public functions."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import levycollapse as lc

STUDIES = Path(__file__).parents[2] / "studies"


def load(name):
    spec = importlib.util.spec_from_file_location(f"{name}_study", STUDIES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def coverage():
    return load("spectrum_coverage")


@pytest.fixture(scope="module")
def verdicts():
    return load("spectrum_verdict")


def records(name):
    return json.loads((STUDIES / f"{name}.json").read_text())


def test_every_cell_of_coverage_is_recorded(coverage):
    keys = ("group", "spectrum", "width", "censored")
    assert [[r[k] for k in keys] for r in records("spectrum_coverage")] == [
        [c[k] for k in keys] for c in coverage.cells()
    ]


def test_recorded_coverage(coverage):
    asked = [r for r in records("spectrum_coverage") if r["group"] == "asked"]
    assert len(asked) == 210
    for record in asked:
        assert record["repetitions"] >= coverage.repetitions(record)
        assert 0.92 <= record["coverage"] <= 0.98, record
    # What the method cannot do: tails of fewer units than it looks at.
    small = [r for r in records("spectrum_coverage") if r["group"] == "tail too small" and r["width"] == 64]
    assert max(r["coverage"] for r in small) < 0.6


def test_recorded_cutoff_profiles():
    for record in records("spectrum_coverage"):
        if record["group"] == "cutoff":
            assert record["profile_coverage"] >= 0.88, record


@pytest.mark.parametrize("index", [40, 145])
def test_cells_of_coverage_with_fresh_draws(coverage, index):
    cell = coverage.cells()[index]
    record = records("spectrum_coverage")[index]
    fresh = coverage.run_cell(cell, 2000, salt=1)
    low, high = binom.ppf([1e-4, 1 - 1e-4], 2000, record["coverage"]) / 2000
    assert low <= fresh["coverage"] <= high
    assert fresh["median_estimate"] == pytest.approx(record["median_estimate"], rel=0.03)


def test_the_study_does_what_the_public_function_does(coverage):
    # Whole samples of the model through `fit_spectrum`, against the study's upper tails.
    cell = next(c for c in coverage.cells() if c["spectrum"] == ["model", 1.5, 3.0, "beta", 1.0] and c["width"] == 512)
    record = records("spectrum_coverage")[coverage.cells().index(cell)]
    eta_J = lc.intensity_for_exponent(1.0, 1.0, 0.1, 1.5, 3.0)
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=eta_J, alpha=1.5, lam=3.0)
    tau = np.exp(-lc.stationary_density(model).rvs((60, 512), rng=8))
    fits = [lc.tails.fit_spectrum(row) for row in tau]
    covered = sum(fit.beta.lower <= 1.0 <= fit.beta.upper for fit in fits)
    assert covered >= binom.ppf(1e-4, 60, record["coverage"])
    assert np.median([fit.beta.value for fit in fits]) == pytest.approx(record["median_estimate"], rel=0.1)
    shapes = [lc.tails.tail_shape(row).shape.value for row in tau]
    power = next(
        r["power"]
        for r in records("spectrum_verdict")
        if r["spectrum"] == cell["spectrum"] and r["width"] == 512 and r["censored"] == "none"
    )
    assert binom.ppf(1e-4, 60, power) <= shapes.count("power") <= binom.ppf(1 - 1e-4, 60, power)


def test_recorded_verdicts(verdicts):
    keys = ("group", "spectrum", "width", "censored")
    found = records("spectrum_verdict")
    assert [[r[k] for k in keys] for r in found] == [[c[k] for k in keys] for c in verdicts.cells()]
    for record in found:
        assert record["repetitions"] >= verdicts.repetitions(record)
        if record["group"] == "null":
            assert record["power"] <= 0.06, record
        if record["group"] == "power" and record["width"] == 512 and record["censored"] == "none":
            assert record["power"] >= 0.7, record


def test_a_cell_of_verdicts_with_fresh_draws(verdicts):
    index = next(
        i for i, c in enumerate(verdicts.cells()) if c["spectrum"] == ["log-normal", 3.0] and c["width"] == 512
    )
    record = records("spectrum_verdict")[index]
    fresh = verdicts.run_cell(verdicts.cells()[index], 2000, salt=1)
    low, high = binom.ppf([1e-4, 1 - 1e-4], 2000, record["power"]) / 2000
    assert low <= fresh["power"] <= high


def test_recorded_scattered_bounds():
    study, found = load("scattered_bounds"), records("scattered_bounds")
    assert [{key: r[key] for key in ("spectrum", "bounds", "width")} for r in found] == study.cells()
    limit = binom.ppf(0.999, study.REPETITIONS, 0.06) / study.REPETITIONS
    for record in found:
        assert record["repetitions"] >= study.REPETITIONS
        if record["spectrum"] != "pareto":
            assert record["power"] <= limit, record
        else:
            assert record["light"] <= limit + 0.02, record


def test_a_cell_of_scattered_bounds_with_fresh_draws():
    study, record = load("scattered_bounds"), records("scattered_bounds")[2]
    fresh = study.run_cell(study.cells()[2], 150, salt=1)
    low, high = binom.ppf([1e-4, 1 - 1e-4], 150, record["power"]) / 150
    assert low <= fresh["power"] <= high
