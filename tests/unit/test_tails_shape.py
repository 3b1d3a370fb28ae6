"""Power, light or undecided: the null laws by another simulation, invariance, censoring, gates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

import levycollapse as lc
from levycollapse.tails import Shape, _progressive
from levycollapse.tails._shape import SEED, _simulated, null_laws, statistic, upper_share, upper_size


def sorted_rows(draw, n, count):
    return -np.sort(-draw((count, n)), axis=1)


@pytest.mark.parametrize(("n", "late"), [(64, 0), (64, 9), (300, 0)])
def test_null_laws_against_whole_samples(n, late):
    rng = np.random.default_rng(0)
    k = upper_size(n)
    for law, draw in zip(null_laws(n, k, late), (rng.standard_normal, rng.standard_exponential), strict=True):
        values = statistic(sorted_rows(draw, n, 4000)[:, : k + 1], late)
        assert ks_2samp(values, law).pvalue > 1e-3


def test_tables_are_what_their_seed_gives():
    streams = np.random.SeedSequence(SEED, spawn_key=(64, 32, 0)).spawn(2)
    again = _simulated(64, 32, 0, np.random.default_rng(streams[1]), lambda x: x)
    assert (again == null_laws(64, 32, 0)[1]).all()


def test_statistic_by_hand():
    y = np.array([5.0, 4.0, 3.5, 3.0])
    assert statistic(y, 0) == pytest.approx(np.std([2.0, 1.0, 0.5], ddof=1) / np.mean([2.0, 1.0, 0.5]))
    assert statistic(y, 1) == pytest.approx(np.std([1.0, 1.0, 0.5], ddof=1) / np.mean([1.0, 1.0, 0.5]))


def test_share_is_continuous_and_passes_the_three_widths():
    assert [upper_share(n) for n in (20, 64, 512, 4096)] == pytest.approx([0.5, 0.5, 0.25, 0.1])
    sizes = [upper_size(n) for n in range(20, 6000)]
    assert min(np.diff(sizes)) >= 0 and max(np.diff(sizes)) <= 1
    assert upper_size(10**6) == 1000


def test_location_and_scale_do_not_matter():
    tau = lc.Pareto(beta=0.8).rvs(512, rng=1)
    found = [lc.tails.tail_shape(3.0 * tau**power) for power in (1.0, 2.0)]
    assert found[0].statistic == pytest.approx(found[1].statistic, rel=1e-12)
    assert found[0].shape is found[1].shape is Shape.POWER


def test_less_than_a_decade_is_no_power_law():
    tau = lc.Pareto(beta=0.8).rvs(512, rng=1)
    found = lc.tails.tail_shape(tau**0.2)
    assert found.shape is Shape.UNDECIDED and "decades" in found.reason and found.decades < 1


def test_three_kinds():
    rng = np.random.default_rng(7)
    assert lc.tails.tail_shape(rng.standard_exponential(512)).shape is Shape.LIGHT
    assert lc.tails.tail_shape(1 + 0.05 * rng.standard_normal(512)).shape is not Shape.POWER
    assert lc.tails.tail_shape(lc.Pareto(0.6).rvs(4096, rng=rng)).shape is Shape.POWER


def test_censored_values_count_as_the_largest_known():
    tau = np.sort(lc.Pareto(beta=0.5).rvs(512, rng=6))
    late = np.arange(512) >= 490
    bounds = np.where(late, tau[489], tau)
    found = lc.tails.tail_shape(bounds, late)
    assert found.n_censored == 22 and found.p_power > 0.05
    # What the bounds are does not matter, only how many there are.
    assert lc.tails.tail_shape(np.where(late, 5 * tau[489], tau), late).statistic == pytest.approx(found.statistic)
    assert lc.tails.tail_shape(np.where(np.arange(512) >= 400, tau[399], tau), np.arange(512) >= 400).reason.startswith(
        "112 of"
    )


def test_units_bounded_below_the_threshold_are_left_out():
    tau = np.sort(lc.Pareto(beta=0.5).rvs(512, rng=4))
    found = lc.tails.tail_shape(tau, np.arange(512) < 100)
    assert found.statistic == pytest.approx(lc.tails.tail_shape(tau[100:]).statistic)


@pytest.mark.parametrize(
    ("tau", "status", "reason"),
    [
        (np.arange(1.0, 20.0), None, "at least 20"),
        (np.full(64, 2.0), np.where(np.arange(64) < 5, 2, 0), "known are equal"),
        (np.arange(1.0, 65.0) / 51.0, np.where(np.arange(64) < 50, 1, 0), None),
        (np.full(64, np.nan), np.ones(64, dtype=int), "below one step"),
    ],
)
def test_reasons(tau, status, reason):
    found = lc.tails.tail_shape(tau, status)
    if reason is not None:
        assert found.shape is Shape.UNDECIDED and reason in found.reason and np.isnan(found.statistic)
    else:
        assert np.isfinite(found.statistic)


def test_one_time_scale_is_the_lightest_spectrum():
    for tau in (np.full(64, 2.0), 2.0 * (1.0 + 1e-8 * np.arange(64))):
        found = lc.tails.tail_shape(tau)
        assert found.shape is Shape.LIGHT and "one time scale" in found.reason and found.decades < 1e-6
    assert lc.verdict(np.full(64, 2.0)).candidates == (lc.Phase.COLLAPSED, lc.Phase.CONFINED)


def test_bad_size():
    with pytest.raises(lc.ParameterError, match=r"size=0\.5 must be"):
        lc.tails.tail_shape(np.arange(1.0, 65.0), size=0.5)


def test_bounds_among_known_values_take_little():
    tau = np.sort(lc.Pareto(beta=0.5).rvs(512, rng=6))
    late = np.isin(np.arange(512), [400, 505])
    found, whole = lc.tails.tail_shape(tau, late), lc.tails.tail_shape(tau)
    assert found.shape is whole.shape is Shape.POWER and found.n_censored == 2 and found.k == whole.k
    assert found.p_power == pytest.approx(whole.p_power, abs=0.05)
    # Bounds between the same known values are the same knowledge.
    moved = tau.copy()
    moved[400] = 0.5 * (tau[399] + tau[400])
    assert lc.tails.tail_shape(moved, late).statistic == found.statistic


def test_product_limit_with_all_bounds_on_top():
    y = np.sort(np.random.default_rng(0).standard_normal(41))[::-1]
    excess, at_risk = _progressive.arrange(y, np.arange(41) < 7)
    expected = statistic(y, 7) * np.sqrt(39 / 40)
    assert _progressive.statistic(excess, at_risk) == pytest.approx(expected, rel=1e-12)
    assert (at_risk == np.arange(40, 7, -1)).all()


@pytest.mark.parametrize(("law", "draw"), [(0, "standard_normal"), (1, "standard_exponential")])
def test_null_laws_against_units_that_leave(law, draw):
    n, k, leave = 40, 20, {0: 2, 5: 3, 9: 1}
    rng, values = np.random.default_rng(3), []
    for _ in range(2000):
        y = np.sort(getattr(rng, draw)(n))[::-1]
        left, known, late = list(y[:k][::-1]), [], []
        while left:
            known.append(left.pop(0))
            for _ in range(leave.get(len(known) - 1, 0)):
                left.pop(int(rng.integers(len(left))))
                late.append(known[-1])
        every, bound = np.array(known + late), np.arange(k) >= len(known)
        # Of equal values the censored are the slower.
        order = np.lexsort((~bound, -every))
        excess, at_risk = _progressive.arrange(np.append(every[order], y[k]), np.append(bound[order], False))
        values.append(_progressive.statistic(excess, at_risk))
    laws = _progressive.null_laws(n, k, at_risk, 4000, np.random.SeedSequence(1))
    assert ks_2samp(values, laws[law]).pvalue > 1e-3
