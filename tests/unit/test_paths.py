import math

import mpmath as mp
import numpy as np
import pytest
from numba import njit

import levycollapse as lc
from levycollapse._kernels import drift_maps as maps
from levycollapse._kernels.paths import BLOCK, advance, increments
from levycollapse._kernels.streams import padded, path_bits
from levycollapse._laws.increment import IncrementLaw
from levycollapse._simulate.schemes import FLOW_REACH, PROBES, STILL, plan

NOTHING = np.empty(0, np.int64), np.empty((0, 1))
KEY = 12345

DRIFTS = {
    "tanh": lc.SaturatingDrift(kappa=1.3, center=0.2, width=0.7),
    "two plateaus": lc.SaturatingDrift(kappa=1.0, center=-0.1, width=1.5, kappa_right=2.0),
    "linear": lc.LinearDrift(rate=0.8, center=0.3),
}


def table_of(scale):
    table = IncrementLaw(alpha=1.5, lam=3.0, eta_J=0.0, eta_G=0.5, dt=scale**2).table()
    return table.coefficients, table.cells_log2


def draws_in_numpy(bits, coefficients, cells_log2):
    """Twin of the table kernels: the uniform as an integer, its binade by frexp."""
    u = np.ldexp(2.0 * (bits & np.uint64((1 << 52) - 1)).astype(np.int64) + 1.0, -53)
    mantissa, exponent = np.frexp(u)
    cell = np.floor((2.0 * mantissa - 1.0) * 2.0**cells_log2).astype(int)
    side = (bits >> np.uint64(58)).astype(int) & 1
    row = ((64 * side + exponent + 62) << cells_log2) + cell
    value = np.zeros(bits.shape)
    for power in (3, 2, 1, 0):
        value = value * np.ldexp(u, 64) + coefficients.reshape(-1, 4)[row, power]
    return np.where(bits >> np.uint64(63), -value, value)


def mapped(scheme_map, z):
    """A map of the kernels on a copy."""
    kind, constants, cells = scheme_map
    out = np.zeros(padded(z.size))
    out[: z.size] = z
    maps.apply_any_map(kind, out, constants, cells, np.empty(out.size, np.uint64), np.empty(out.size), None)
    return out[: z.size]


def run(state, paths, steps, scheme_plan, table, first=0):
    z = state.copy()
    assert scheme_plan.custom is None
    advance(
        z, paths.astype(np.uint64), np.uint64(KEY), first, steps, table, scheme_plan.kernel_maps, None,
        *NOTHING, 0,
    )  # fmt: skip
    return z


SATURATING = {
    "unit": lc.SaturatingDrift(kappa=1.0),
    **{name: DRIFTS[name] for name in ("tanh", "two plateaus")},
    "steep": lc.SaturatingDrift(kappa=1.0, center=3.0, width=0.01, kappa_right=50.0),
}


def points(drift):
    rng = np.random.default_rng(1)
    near = rng.choice([-1.0, 1.0], 2000) * 10.0 ** rng.uniform(-9, 1.5, 2000)
    return drift.center + drift.width * np.concatenate([np.linspace(-45, 45, 3001), near])


@pytest.mark.parametrize("drift", SATURATING.values(), ids=SATURATING)
@pytest.mark.parametrize("dt", [1e-4, 0.01, 0.5])
def test_tabulated_drift_is_the_drift(drift, dt):
    """z + dt F(z), F from its formula: to 4 ulp of the plateau and the rounding of z, and of F where it vanishes."""
    z = points(drift)
    moved = mapped(plan(drift, "euler-maruyama", dt).step, z)
    allowed = 4 * np.spacing(dt * max(drift.left, drift.right)) + np.spacing(np.abs(z)) * (1 + dt / drift.width)
    assert (np.abs(moved - (z + dt * drift(z))) < allowed).all()


def test_tabulated_drift_keeps_its_relative_accuracy_at_the_center():
    z = np.geomspace(1e-300, 0.02, 400)
    # Moved by a step of 2**30: z itself does not hide the drift.
    moved = mapped(plan(lc.SaturatingDrift(kappa=2.0), "euler-maruyama", 2.0**30).step, z) - z
    with mp.workdps(30):
        exact = np.array([float(-(2**31) * mp.tanh(mp.mpf(v))) for v in z])
    assert np.abs(moved / exact - 1).max() < 3e-15


def test_tabulated_drift_is_odd_and_has_its_plateaus():
    z = np.concatenate([np.linspace(0.0, 21.0, 5000), np.geomspace(1e-300, 1e300, 5000), [np.inf]])
    for scheme in ("euler-maruyama", "strang"):
        step = plan(lc.SaturatingDrift(kappa=1.0), scheme, 0.25).step
        assert np.array_equal(mapped(step, -z), -mapped(step, z))
        assert np.array_equal(mapped(step, np.array([21.0, -25.0, np.inf])), [20.75, -24.75, np.inf])
        assert np.isnan(mapped(step, np.array([np.nan]))).all()


@pytest.mark.parametrize("reduced", [1e-6, 0.01, 0.1, 0.35, 4.0, 9.0])
def test_flow_of_tanh_is_exact(reduced):
    """The table, applied once and several times, against arsinh in 60 digits (NUMERICS C.9)."""
    kappa, center, width = 1.3, 0.25, 0.7
    t = reduced * width / kappa
    step = plan(lc.SaturatingDrift(kappa, center, width), "strang", t).step
    assert step[1][-1] == max(1, np.ceil(reduced / FLOW_REACH))
    start = np.concatenate([np.linspace(-40, 40, 161), [1e-12, 0.25, 300.0, -5000.0]])
    with mp.workdps(60):
        for before, after in zip(start, mapped(step, start), strict=True):
            y = (mp.mpf(before) - center) / mp.mpf(width)
            decay = mp.exp(-mp.mpf(kappa) * mp.mpf(t) / mp.mpf(width))
            exact = float(center + mp.mpf(width) * mp.asinh(decay * mp.sinh(y)))
            assert abs(after - exact) < (3e-15 * min(reduced, 1) + 2 * np.spacing(abs(before))) * step[1][-1]


@pytest.mark.parametrize("t", [0.02, 0.3])
def test_flow_of_two_plateaus(t):
    drift = DRIFTS["two plateaus"]
    z = points(drift)
    assert np.abs(mapped(plan(drift, "strang", t).step, z) - drift.flow(z, t)).max() < 1e-13


def test_numerical_flow_has_order_six():
    @njit
    def minus_tanh(z, p):
        return -math.tanh(z)

    flow = njit(maps.flow_map(minus_tanh))
    start = PROBES[np.abs(PROBES) < 3]
    errors = []
    for pieces in (1, 2, 4):
        moved = start.copy()
        flow(moved, (0.8 / pieces, float(pieces)))
        errors.append(np.abs(moved - np.arcsinh(np.exp(-0.8) * np.sinh(start))).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert ((orders > 5.8) & (orders < 7.5)).all()


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
    assert np.abs(records[0] - expected).max() < 1e-13


def test_increments_are_those_that_advance_adds():
    paths = np.arange(300, dtype=np.uint64)
    still = STILL * 3
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


def _asymmetric_end(z, k, k_right, width, t):
    """Root in 40 digits of the implicit solution 2 u/k - (1/k + 1/k_right) log abs(1 - exp(2 u)) = const + 2 t/w."""
    with mp.workdps(40):
        z, k, k_right, width, t = map(mp.mpf, (z, k, k_right, width, t))
        start = z / width

        def known(u):
            return 2 * u / k - (1 / k + 1 / k_right) * mp.log(abs(mp.expm1(2 * u)))

        target = known(start) + 2 * t / width
        ends = (mp.mpf(-100), mp.log(abs(start)))
        sign = mp.sign(start)
        root = mp.findroot(lambda v: known(sign * mp.exp(v)) - target, ends, solver="illinois", tol=1e-60, maxsteps=500)
        return width * sign * mp.exp(root)


@pytest.mark.parametrize(
    ("z", "k", "k_right", "width", "t"),
    [
        (454.0, 0.0016, 53.0, 11.8, 5.0),
        (14.7, 1e-3, 0.8, 1.8, 0.5),
        (-129.0, 5e-8, 1.4e-9, 26.0, 1.0),
        (-2.0, 3.0, 1e-4, 0.5, 1e-6),
        (0.01, 2.0, 0.02, 1.0, 0.3),
        (-3.0, 40.0, 0.5, 1.0, 0.2),
    ],
)
def test_plateaus_far_apart_lose_no_digits(z, k, k_right, width, t):
    """The flow and the step of Strang's scheme: differences of large numbers cost them 1e-10 of the way."""
    drift = lc.SaturatingDrift(k, width=width, kappa_right=k_right)
    true = _asymmetric_end(z, k, k_right, width, t)
    assert drift.flow(z, t) == pytest.approx(float(true), rel=4e-15)
    state = mapped(plan(drift, "strang", t).step, np.array([z]))
    assert state[0] == pytest.approx(float(true), abs=4e-15 * max(k, k_right) * t, rel=4e-16)
