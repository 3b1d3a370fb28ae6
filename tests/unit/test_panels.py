"""Restoring drift, persistence of scales and trajectories: against plain loops, exact cases, and bad input."""

from __future__ import annotations

import doctest
import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import ttest_1samp

import levycollapse as lc
from levycollapse.panels import DriftStatus, Persistence
from levycollapse.panels._far_left import far_left_moves
from levycollapse.panels._scales import middle, noise_of, scaled, simulated, statistics
from levycollapse.panels._trajectory import first_sustained, merged, quantile_width
from levycollapse.tails import UnitStatus

AXES = ("seed", "unit", "time", "replicate")


def drifting(seeds=3, units=200, steps=30, drift=0.05, noise=0.05, replicates=2, seed=1):
    """Paths with the saturating drift, exact in time, and measurement noise."""
    rng = np.random.default_rng(seed)
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.5, eta_J=0.0, alpha=1.5, lam=3.0)
    start = lc.stationary_density(model).rvs(seeds * units, rng)
    every = max(1, round(drift / 0.02))
    paths = lc.simulate(
        model,
        seeds * units,
        drift * (steps - 1),
        drift / every,
        scheme="strang",
        initial=start,
        store_every=every,
        rng=seed,
    )
    zeta = paths.zeta.values.reshape(seeds, units, steps, 1)
    return xr.DataArray(zeta + noise * rng.normal(size=(seeds, units, steps, replicates)), dims=AXES)


def test_moves_against_a_plain_loop():
    rng = np.random.default_rng(2)
    zeta = rng.normal(size=(2, 40, 9, 3))
    zeta[rng.random(zeta.shape) < 0.05] = np.nan
    times = np.cumsum(rng.uniform(0.5, 2.0, 9))
    found = far_left_moves(zeta, times)
    for s in range(2):
        for j in range(7):
            total = count = lost = 0.0
            for r in range(3):
                others = [o for o in range(3) if o != r]
                move = (zeta[s, :, j + 2, others].mean(0) - zeta[s, :, j + 1, others].mean(0)) / (
                    times[j + 2] - times[j + 1]
                )
                before = zeta[s, :, j, r]
                order = [u for u in np.argsort(before) if np.isfinite(before[u])]
                for u in order[: round(0.1 * len(order))]:
                    if np.isfinite(move[u]):
                        total, count = total + move[u] - np.nanmean(move), count + 1
                    else:
                        lost += 1
            assert found.move[s, j] == pytest.approx(total)
            assert (found.number[s, j], found.lost[s, j]) == (count, lost)


def test_estimate_is_the_t_test_of_the_halves():
    panel = drifting(steps=12)
    result = lc.panels.restoring_drift(panel)
    moves = far_left_moves(panel.values, np.arange(12.0))
    # Ten transitions: four, two left out, four.
    means = [
        (moves.move[s, part].sum() / moves.number[s, part].sum()) for part in (slice(4), slice(6, 10)) for s in range(3)
    ]
    test = ttest_1samp(means, 0.0)
    assert result.p_value == pytest.approx(test.pvalue)
    assert result.kappa.value == pytest.approx(np.mean(means))
    low, high = test.confidence_interval(0.95)
    assert (result.kappa.lower, result.kappa.upper) == pytest.approx((low, high))


def test_the_drift_of_the_model_is_found():
    result = lc.panels.restoring_drift(drifting())
    assert result.status is DriftStatus.MEASURED
    assert result.p_value < 1e-3
    assert result.kappa.lower < 0.05 * 1.1 and result.kappa.upper > 0.05 * 0.9
    assert (result.n_seeds, result.n_replicates, result.lost) == (3, 2, 0.0)
    assert result.curve.rate[0] > 0.03 and result.curve.rate[-1] < -0.03
    assert result.p_constant > 0.01


def test_time_is_the_panels():
    panel = drifting()
    late = panel.assign_coords(time=100.0 + 20.0 * np.arange(30))
    one, other = lc.panels.restoring_drift(panel), lc.panels.restoring_drift(late)
    assert other.kappa.value == pytest.approx(one.kappa.value / 20)
    assert other.slope.value == pytest.approx(one.slope.value / 20)
    assert other.coarseness == pytest.approx(one.coarseness)


def test_a_linear_drift_is_not_constant():
    rng = np.random.default_rng(5)
    z = [rng.normal(size=(6, 256))]
    for _ in range(39):
        z.append(math.exp(-0.05) * z[-1] + math.sqrt(1 - math.exp(-0.1)) * rng.normal(size=(6, 256)))
    noise = 0.05 * rng.normal(size=(6, 256, 40, 2))
    result = lc.panels.restoring_drift(xr.DataArray(np.stack(z, 2)[..., None] + noise, dims=AXES))
    assert result.p_constant < 0.01
    assert result.slope.lower < math.expm1(-0.05) < result.slope.upper


def test_residuals_have_neither_drift_nor_common_motion():
    panel = drifting(steps=40)
    moved = panel + 0.3 * np.random.default_rng(1).normal(size=(3, 1, 40, 1)).cumsum(axis=2)
    result = lc.panels.restoring_drift(moved)
    assert result.residuals.dims == ("seed", "unit", "step") and result.residuals.shape == (3, 200, 38)
    before = panel.mean("replicate").values[:, :, :-2]
    plain = np.diff(panel.mean("replicate").values, axis=2)[:, :, 1:]
    left = before < np.quantile(before, 0.1)
    assert plain[left].mean() > 0.03
    assert abs(result.residuals.values[left].mean()) < 0.02
    # Each mean of 200 moves of sd 0.23 is off by 0.016.
    assert np.abs(result.residuals.mean("unit")).max() < 0.05


def test_missing_units():
    panel = drifting()
    known = lc.panels.restoring_drift(panel)
    some = panel.where(np.random.default_rng(1).random((3, 200, 1, 1)) > 0.1)
    assert lc.panels.restoring_drift(some).status is DriftStatus.MEASURED
    limited = panel.where(panel > panel.quantile(0.03))
    result = lc.panels.restoring_drift(limited)
    assert result.status is DriftStatus.LOST_UNITS and result.lost > 0.01
    assert math.isnan(result.p_value) and math.isnan(result.kappa.lower) and result.kappa.value > known.kappa.value
    # The same by status: a bound is no measurement.
    status = xr.where(panel > panel.quantile(0.03), int(UnitStatus.RESOLVED), int(UnitStatus.CENSORED_LONG))
    same = lc.panels.restoring_drift(xr.Dataset({"zeta": panel, "status": status.astype(np.int8)}))
    assert same.kappa.value == result.kappa.value and same.lost == result.lost


def test_status_of_other_panels():
    assert lc.panels.restoring_drift(drifting(steps=6)).status is DriftStatus.TOO_FEW
    assert lc.panels.restoring_drift(drifting(units=19)).status is DriftStatus.TOO_FEW
    assert lc.panels.restoring_drift(drifting(drift=0.2, steps=40)).status is DriftStatus.COARSE


def test_one_replicate_is_asked_about():
    panel = drifting(replicates=1)
    with pytest.raises(lc.ParameterError, match="one replicate"):
        lc.panels.restoring_drift(panel)
    single = lc.panels.restoring_drift(panel, single_replicate=True)
    assert single.n_replicates == 1 and single.p_value < 0.01
    alone = lc.panels.restoring_drift(panel.isel(replicate=0), single_replicate=True)
    assert alone.kappa == single.kappa


def test_published_drift_finds_one_in_noise():
    rng = np.random.default_rng(3)
    still = xr.DataArray(rng.normal(size=(3, 200, 1, 1)) + 0.05 * rng.normal(size=(3, 200, 30, 2)), dims=AXES)
    assert lc.panels.restoring_drift(still, compat="reference").positive
    assert lc.panels.restoring_drift(still).p_value > 0.05


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda p: p.values, "ndarray"),
        (lambda p: p.rename(unit="neuron"), "dimensions"),
        (lambda p: p.where(p < 2, math.inf), "infinite"),
        (lambda p: p.assign_coords(time=np.zeros(30)), "increase"),
        (lambda p: xr.Dataset({"tau": p}), "zeta"),
        (lambda p: xr.Dataset({"zeta": p, "status": (p * 0 + 9).astype(int)}), "status"),
    ],
)
def test_bad_panels(change, text):
    for function in (lc.panels.restoring_drift, lc.panels.trajectory):
        with pytest.raises(lc.ParameterError, match=text):
            function(change(drifting()))


@pytest.mark.parametrize("shape", [(16, 13), (17, 12), (40, 26)])
def test_medians(shape):
    x = np.random.default_rng(0).normal(size=shape)
    for axis in (0, 1):
        assert np.array_equal(middle(x, axis), np.median(x, axis=axis, keepdims=True))


def test_scales_are_taken_out_and_known():
    rng = np.random.default_rng(1)
    unit, step = np.exp(rng.normal(size=(300, 1))), np.exp(0.3 * rng.normal(size=(1, 60)))
    found = scaled(unit * step * rng.normal(size=(300, 60)))
    assert np.median(np.abs(found.values), axis=0) == pytest.approx(np.full(60, 1 / 1.4826), abs=1e-4)
    assert np.corrcoef(np.log(found.unit.ravel()), np.log(unit.ravel()))[0, 1] > 0.98
    assert np.corrcoef(np.log(found.step.ravel()), np.log(step.ravel()))[0, 1] > 0.95
    cube, drift = statistics(found.values)
    assert cube == pytest.approx(2 * math.sqrt(2 / math.pi), rel=0.15) and abs(drift) < 0.1


@pytest.mark.parametrize("correlation", [-0.5, -0.3, 0.0, 0.6])
def test_simulated_noise_is_as_dependent_as_the_data(correlation):
    rng = np.random.default_rng(4)
    fresh = rng.normal(size=(300, 61))
    if correlation < 0:
        weight = (1 - math.sqrt(1 - 4 * correlation**2)) / (2 * -correlation)
        x = fresh[:, 1:] - weight * fresh[:, :-1]
    else:
        x = fresh[:, 1:].copy()
        for t in range(1, 60):
            x[:, t] = correlation * x[:, t - 1] + math.sqrt(1 - correlation**2) * fresh[:, t + 1]
    data = scaled(x)
    noise = noise_of(data.values)
    assert noise.correlation == pytest.approx(correlation, abs=0.07)
    again = noise_of(scaled(simulated(noise, data, rng)).values)
    assert again.correlation == pytest.approx(noise.correlation, abs=0.03)


def test_factors_are_found_and_simulated():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 40)) + rng.normal(size=(1, 40)) * rng.choice([-1.0, 1.0], (300, 1))
    data = scaled(x)
    noise = noise_of(data.values)
    assert noise.loadings.shape == (300, 1)
    values = simulated(noise, data, rng) / (data.unit * data.step)
    assert np.linalg.svd(values, compute_uv=False)[0] == pytest.approx(
        np.linalg.svd(data.values, compute_uv=False)[0], rel=0.15
    )


def test_persistence_of_four_kinds():
    rng = np.random.default_rng(7)
    scales = np.exp(rng.normal(size=(256, 1)) + 0.5 * rng.normal(size=(1, 26)))
    gauss = scales * rng.normal(size=(256, 26))
    verdict = lc.panels.scale_persistence_test(gauss, draws=99, rng=1)
    # The normal law is a stable one.
    assert verdict.verdict is Persistence.NOT_EXCLUDED and verdict.p_stable > 0.02
    jumps = lc.panels.scale_persistence_test(scales * lc.SymmetricStable(1.5).rvs((256, 26), rng=rng), draws=99, rng=1)
    assert jumps.verdict is Persistence.NOT_PERSISTENT
    assert jumps.p_stable > 0.02 and jumps.stable_index == pytest.approx(1.5, abs=0.1)
    mixture = np.where(rng.random((256, 26)) < 0.01, 4.0, 1.0) * gauss
    rare = lc.panels.scale_persistence_test(mixture, draws=99, rng=1)
    assert rare.verdict is Persistence.NOT_PERSISTENT
    student_t = lc.panels.scale_persistence_test(scales * rng.standard_t(5, size=(256, 26)), draws=99, rng=1)
    assert student_t.verdict is Persistence.NOT_PERSISTENT and student_t.p_stable < 0.05
    u = rng.normal(size=(256, 26))
    for t in range(1, 26):
        u[:, t] = 0.9 * u[:, t - 1] + math.sqrt(0.19) * u[:, t]
    smooth = lc.panels.scale_persistence_test(gauss * np.exp(0.5 * u), draws=99, rng=1)
    assert smooth.verdict is Persistence.SCALE_DRIFTS and smooth.p_drift == 0.01


def test_persistence_knows_no_scale_and_no_order_of_dimensions():
    x = np.random.default_rng(1).normal(size=(64, 20))
    one = lc.panels.scale_persistence_test(x, draws=39, rng=2)
    other = lc.panels.scale_persistence_test(xr.DataArray(1024.0 * x.T, dims=("step", "coordinate")), draws=39, rng=2)
    assert one == other
    gaps = np.vstack([x, np.full((2, 20), np.nan), np.zeros((3, 20))])
    assert lc.panels.scale_persistence_test(gaps, draws=39, rng=2).n_dropped == 5
    few = lc.panels.scale_persistence_test(x[:, :11], draws=39)
    assert few.verdict is Persistence.TOO_FEW and math.isnan(few.p_value)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"increments": np.zeros(30)}, "shape"),
        ({"increments": xr.DataArray(np.zeros((30, 30)), dims=("unit", "time"))}, "dimensions"),
        ({"increments": np.full((30, 30), math.inf)}, "infinite"),
        ({"size": 0.6}, "size="),
        ({"draws": 10}, "draws=10"),
        ({"draws": 99.0}, "draws=99"),
        ({"rng": "one"}, "rng="),
    ],
)
def test_bad_increments(args, text):
    good = {"increments": np.random.default_rng(0).normal(size=(30, 30))}
    with pytest.raises(lc.ParameterError, match=text):
        lc.panels.scale_persistence_test(**{**good, **args})


def test_trajectory_is_what_tails_say():
    rng = np.random.default_rng(1)
    early = lc.LogNormal(log_median=3.0, sd=1.0).rvs((2, 600, 3), rng=rng)
    late = lc.Pareto(beta=0.8, tau_min=2.0).rvs((2, 600, 4), rng=rng)
    tau = np.concatenate([early, late], axis=2)
    panel = xr.DataArray(-np.log(tau), dims=("seed", "unit", "time"), coords={"time": 10.0 * np.arange(7)})
    path = lc.panels.trajectory(panel, sustain=2)
    for i in range(2):
        for t in range(7):
            fit = lc.tails.fit_spectrum(tau[i, :, t])
            at = path.data.isel(seed=i, time=t)
            assert float(at.beta) == pytest.approx(fit.beta.value)
            assert float(at.beta_upper) == pytest.approx(fit.beta.upper)
            assert str(at.verdict.values) == lc.tails.tail_shape(tau[i, :, t]).shape.value
            assert float(at.delta_zeta) == pytest.approx(np.diff(np.quantile(-np.log(tau[i, :, t]), [0.1, 0.9]))[0])
    power = (path.data.verdict == "power").values
    assert path.first_power.tolist() == first_sustained(power, 10.0 * np.arange(7), 2)[0].tolist()


def test_sustained_and_censored():
    power = np.array([[0, 1, 0, 1, 1, 1], [1, 1, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1], [1, 1, 1, 0, 0, 0]], dtype=bool)
    times = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0])
    first, censored = first_sustained(power, times, 3)
    assert first.tolist() == [4.0, 4.0, 4.0, 0.0] and censored.tolist() == [False, True, True, False]
    first, censored = first_sustained(power, times, 1)
    assert first.tolist() == [1.0, 0.0, 8.0, 0.0] and not censored.any()


def test_replicates_are_merged_by_what_is_known():
    known, below, late, growing = (int(UnitStatus[n]) for n in ("RESOLVED", "BELOW_STEP", "CENSORED_LONG", "GROWING"))
    zeta = np.array([[-1.0, -2.0], [-3.0, -4.0], [-3.0, np.nan], [0.5, 0.7], [0.5, -0.1]])
    status = np.array([[known, known], [known, late], [known, growing], [below, below], [below, known]], dtype=np.int8)
    value, what = merged(zeta, status)
    assert value == pytest.approx([-1.5, -3.0, np.nan, 0.6, 0.2], nan_ok=True)
    assert what.tolist() == [known, late, growing, below, known]


def test_width_holds_the_truth():
    rng = np.random.default_rng(3)
    truth = 2 * 1.2815515655446004
    for n in (64, 512):
        found = [quantile_width(rng.normal(size=n), 0, 0.95) for _ in range(400)]
        assert 0.95 <= np.mean([e.lower <= truth <= e.upper for e in found]) <= 1.0
    assert math.isnan(quantile_width(rng.normal(size=100), 10, 0.95).value)
    open_ended = quantile_width(np.r_[np.full(8, -9.0), rng.normal(size=92)], 8, 0.95)
    assert open_ended.upper == math.inf and math.isfinite(open_ended.lower)


@pytest.mark.parametrize("args", [{"sustain": 0}, {"sustain": 31}, {"sustain": 1.5}, {"level": 0.0}])
def test_bad_trajectories(args):
    with pytest.raises(lc.ParameterError, match=next(iter(args))):
        lc.panels.trajectory(drifting(), **args)


def test_too_few_units_have_no_trajectory():
    path = lc.panels.trajectory(drifting(units=12, steps=8))
    assert np.isnan(path.data.beta).all() and (path.data.verdict == "undecided").all() and path.censored.all()


def test_the_page_runs():
    """What docs/panels.md shows is what happens."""
    page = Path(__file__).parents[2] / "docs" / "panels.md"
    results = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted > 8 and results.failed == 0
