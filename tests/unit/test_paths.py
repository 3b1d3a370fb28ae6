import mpmath as mp
import numpy as np
import pytest

import levycollapse as lc
from levycollapse._kernels import drift_maps as maps
from levycollapse._kernels._jit import scalar
from levycollapse._kernels.elementary import tanh
from levycollapse._kernels.paths import BLOCK, advance, increments
from levycollapse._kernels.streams import path_bits
from levycollapse._laws.increment import IncrementLaw
from levycollapse._simulate.schemes import FLOW_REACH, PROBES, plan

NOTHING = np.empty(0, np.int64), np.empty((0, 1))
KEY = 12345

DRIFTS = {
    "tanh": lc.SaturatingDrift(kappa=1.3, center=0.2, width=0.7),
    "two plateaus": lc.SaturatingDrift(kappa=1.0, center=-0.1, width=1.5, kappa_right=2.0),
    "linear": lc.LinearDrift(rate=0.8, center=0.3),
}


@scalar
def tanh_of(x, out):
    for i in range(x.size):
        out[i] = tanh(x[i])


def table_of(scale):
    table = IncrementLaw(alpha=1.5, lam=3.0, eta_J=0.0, eta_G=0.5, dt=scale**2).table()
    return table.coefficients, table.cells_log2


def draws_in_numpy(bits, coefficients, cells_log2):
    """Twin of the table kernels: the uniform as an integer, its binade by frexp."""
    count = (bits >> np.uint64(12)).astype(np.int64)
    v = np.ldexp(2.0 * count + 1.0, -53)
    tail = v < 0.5
    mantissa, exponent = np.frexp(np.where(tail, v, 1.0 - v))
    place = (2.0 * mantissa - 1.0) * 2.0**cells_log2
    cell = np.floor(place).astype(int)
    row = ((exponent + 52) << cells_log2) + cell + np.where(tail, 0, 52 << cells_log2)
    value = np.zeros(bits.shape)
    for power in (3, 2, 1, 0):
        value = value * (place - cell) + coefficients[row, power]
    return np.where(bits & np.uint64(1), -value, value)


def run(state, paths, steps, scheme_plan, table, first=0):
    z = state.copy()
    assert scheme_plan.custom is None
    advance(
        z, paths.astype(np.uint64), np.uint64(KEY), first, steps, table, scheme_plan.kernel_maps, None,
        *NOTHING, 0,
    )  # fmt: skip
    return z


def test_tanh_within_two_and_a_half_ulp():
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000) * 10.0 ** rng.uniform(-9, 1, 3000)
    out = np.empty_like(x)
    tanh_of(x, out)
    with mp.workdps(40):
        exact = [mp.tanh(mp.mpf(v)) for v in x]
        ulps = [
            abs(float((mp.mpf(o) - e) / mp.mpf(np.spacing(abs(float(e)))))) for o, e in zip(out, exact, strict=True)
        ]
    assert max(ulps) < 2.5


def test_tanh_at_the_ends():
    x = np.array([0.0, 20.0, -750.0, np.inf, -np.inf, 5e-324, np.nan])
    out = np.empty_like(x)
    tanh_of(x, out)
    assert np.array_equal(out[:6], [0.0, 1.0, -1.0, 1.0, -1.0, 5e-324])
    assert np.isnan(out[6])


def test_tanh_is_odd():
    x = np.concatenate([np.linspace(0.0, 21.0, 5000), np.geomspace(1e-300, 20.0, 5000)])
    right, left = np.empty_like(x), np.empty_like(x)
    tanh_of(x, right)
    tanh_of(-x, left)
    assert np.array_equal(left, -right)


@pytest.mark.parametrize("reduced", [1e-6, 0.01, 0.099, 0.1, 0.35, 4.0])
def test_flow_of_tanh_is_exact(reduced):
    """The polynomial in tanh**2, in one piece and in several, against arsinh in 30 digits (NUMERICS C.9)."""
    kappa, center, width = 1.3, 0.25, 0.7
    t = reduced * width / kappa
    constants = plan(lc.SaturatingDrift(kappa, center, width), "strang", t).step[1]
    assert constants[-1] == max(1, np.ceil(reduced / FLOW_REACH))
    start = np.concatenate([np.linspace(-40, 40, 161), [1e-12, 0.25, 300.0, -5000.0]])
    moved = start.copy()
    maps.flow_saturating(moved, constants, np.empty_like(moved))
    with mp.workdps(60):
        for before, after in zip(start, moved, strict=True):
            y = (mp.mpf(before) - center) / mp.mpf(width)
            decay = mp.exp(-mp.mpf(kappa) * mp.mpf(t) / mp.mpf(width))
            exact = float(center + mp.mpf(width) * mp.asinh(decay * mp.sinh(y)))
            assert abs(after - exact) < (1e-14 + np.spacing(abs(before))) * constants[-1]


def test_numerical_flow_has_order_six():
    start = PROBES[np.abs(PROBES) < 3]
    errors = []
    for pieces in (1, 2, 4):
        moved = start.copy()
        # b = 0, a = 1: the symmetric drift, whose flow is known.
        maps.flow_unequal(moved, (0.8 / pieces, float(pieces), 1.0, 0.0, 0.0, 1.0) + (0.0,) * 7)
        errors.append(np.abs(moved - np.arcsinh(np.exp(-0.8) * np.sinh(start))).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert ((orders > 5.8) & (orders < 7.5)).all()


@pytest.mark.parametrize("t", [0.02, 0.3])
def test_flow_of_two_plateaus(t):
    drift = DRIFTS["two plateaus"]
    constants = plan(drift, "strang", t).step[1]
    moved = PROBES.copy()
    maps.flow_unequal(moved, constants)
    assert np.abs(moved - drift.flow(PROBES, t)).max() < 2e-10


@pytest.mark.parametrize("drift", DRIFTS.values(), ids=DRIFTS)
def test_euler_maruyama_against_numpy(drift):
    """The whole kernel against its plain twin, to rounding: streams, table, drift."""
    size, steps, dt = 2 * BLOCK + 37, 21, 0.05
    paths = np.arange(size) * 3 + 5
    table = table_of(0.3)
    start = np.linspace(-4.0, 4.0, size)
    expected = start.copy()
    noise = draws_in_numpy(path_bits(KEY, paths, 0, steps), *table)
    for step in range(steps):
        expected = expected + dt * drift(expected) + noise[:, step]
    assert np.abs(noise).max() > 1.0
    assert np.abs(run(start, paths, steps, plan(drift, "euler-maruyama", dt), table) - expected).max() < 3e-14


@pytest.mark.parametrize("drift", DRIFTS.values(), ids=DRIFTS)
def test_strang_against_numpy(drift):
    size, steps, dt = BLOCK + 3, 11, 0.05
    paths = np.arange(size)
    table = table_of(0.3)
    start = np.linspace(-4.0, 4.0, size)
    expected = start.copy()
    noise = draws_in_numpy(path_bits(KEY, paths, 0, steps), *table)
    for step in range(steps):
        expected = drift.flow(drift.flow(expected, dt / 2) + noise[:, step], dt / 2)
    scheme_plan = plan(drift, "strang", dt)
    z = start.copy()
    records = np.empty((1, size))
    advance(
        z, paths.astype(np.uint64), np.uint64(KEY), 0, steps, table, scheme_plan.kernel_maps, None,
        np.array([steps]), records, 0,
    )  # fmt: skip
    # Two plateaus have a numerical flow, to 1e-11 a step.
    assert np.abs(records[0] - expected).max() < (1e-13 if drift is not DRIFTS["two plateaus"] else 1e-9)


def test_increments_are_those_that_advance_adds():
    paths = np.arange(300, dtype=np.uint64)
    still = (maps.STILL, (0.0,) * maps.N_CONSTANTS) * 3
    table = table_of(1.0)
    z, out, total = np.zeros(300), np.empty(300), np.zeros(300)
    advance(z, paths, np.uint64(KEY), 0, 5, table, still, None, *NOTHING, 0)
    for step in range(5):
        increments(paths, np.uint64(KEY), step, table, out)
        total += out
    assert np.array_equal(z, total)


@pytest.mark.parametrize("cut", [1, 2, 15, 16, 17, 30])
def test_pieces_and_records_leave_the_bits_alone(cut):
    size, steps = BLOCK + 9, 33
    paths = np.arange(size)
    scheme_plan = plan(DRIFTS["tanh"], "strang", 0.05)
    table = table_of(0.3)
    whole = run(np.zeros(size), paths, steps, scheme_plan, table)
    part = run(np.zeros(size), paths, cut, scheme_plan, table)
    assert np.array_equal(run(part, paths, steps - cut, scheme_plan, table, first=cut), whole)
    z, records = np.zeros(size), np.empty((steps, size))
    advance(
        z, paths.astype(np.uint64), np.uint64(KEY), 0, steps, table, scheme_plan.kernel_maps, None,
        np.arange(1, steps + 1), records, 0,
    )  # fmt: skip
    assert np.array_equal(z, whole)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("position", [0, BLOCK - 1, BLOCK + 5])
def test_nonfinite_states_are_seen(bad, position):
    """Anchors H10: fastmath deletes such checks."""
    size = BLOCK + 9
    z = np.zeros(size)
    z[position] = bad
    scheme_plan = plan(DRIFTS["linear"], "euler-maruyama", 0.05)
    fault = advance(
        z, np.arange(size, dtype=np.uint64), np.uint64(KEY), 3, 40, table_of(0.3), scheme_plan.kernel_maps, None,
        *NOTHING, 0,
    )  # fmt: skip
    assert fault[:2] == (position, 3)
