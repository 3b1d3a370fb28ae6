from __future__ import annotations

import math

import numpy as np
import pytest

import levycollapse as lc
from levycollapse import Drift, LinearDrift, SaturatingDrift

POINTS = np.array([-30.0, -3.0, -0.2, 0.3, 0.3 + 1e-9, 0.9, 4.0, 25.0])
DRIFTS = [
    SaturatingDrift(1.3, center=0.3, width=0.7),
    SaturatingDrift(1.3, center=0.3, width=0.7, kappa_right=4.0),
    SaturatingDrift(1.3, center=0.3, width=0.7, kappa_right=0.2),
    LinearDrift(0.8, center=0.3),
]


def test_saturating_values():
    drift = DRIFTS[0]
    np.testing.assert_allclose(drift(POINTS), -1.3 * np.tanh((POINTS - 0.3) / 0.7), rtol=1e-14, atol=1e-16)
    assert (drift.left, drift.right, drift(0.3)) == (1.3, 1.3, 0.0)
    assert (drift(-1e6), drift(1e6)) == (1.3, -1.3)


def test_asymmetric_values():
    """The documented form, its zero at the center and both plateaus."""
    k_left, k_right, center, width = 1.3, 4.0, 0.3, 0.7
    drift = SaturatingDrift(k_left, center, width, k_right)
    shifted = center - 0.5 * width * math.log(k_left / k_right)
    expected = 0.5 * (k_left - k_right) - 0.5 * (k_left + k_right) * np.tanh((POINTS - shifted) / width)
    np.testing.assert_allclose(drift(POINTS), expected, rtol=1e-13, atol=1e-14)
    assert drift(center) == 0.0
    assert (drift.left, drift.right) == (1.3, 4.0)
    assert (drift(-1e6), drift(1e6)) == pytest.approx((1.3, -4.0), rel=1e-15)


@pytest.mark.parametrize("drift", DRIFTS, ids=repr)
@pytest.mark.parametrize("t", [1e-3, 0.4, 5.0])
def test_flow_solves_the_equation(drift, t):
    """Closed form against an eighth-order integration, and against itself run backwards."""
    end = drift.flow(POINTS, t)
    np.testing.assert_allclose(end, Drift.flow(drift, POINTS, t), rtol=0, atol=1e-10)
    near = np.abs(POINTS - 0.3) < 5  # far points forget where they came from within t = 5
    np.testing.assert_allclose(drift.flow(end, -t)[near], POINTS[near], rtol=1e-6 if t == 5 else 1e-12, atol=1e-12)
    half = drift.flow(drift.flow(POINTS, t / 2), t / 2)
    np.testing.assert_allclose(end, half, rtol=1e-13, atol=1e-14)
    assert drift.flow(0.3, t) == 0.3


def test_flow_beyond_the_range_of_sinh():
    for drift in DRIFTS[:3]:
        assert drift.flow(-1e6, 2.0) == pytest.approx(-1e6 + 2 * 1.3, rel=1e-15)
        assert drift.flow(1e6, 2.0) == pytest.approx(1e6 - 2 * drift.right, rel=1e-15)
        assert np.isfinite(drift.flow(0.3 + 1e-300, -1e4))
    assert DRIFTS[0].flow(0.3 + 1e-5, -500.0) == pytest.approx(0.3 + 0.7 * (1.3 * 500 / 0.7 + math.log(1e-5 / 0.7 * 2)))


@pytest.mark.parametrize(
    ("function", "left", "right"),
    [
        (lambda z: -2.0 * z / np.sqrt(1 + z * z), 2.0, 2.0),
        (lambda z: -math.tanh(z), 1.0, 1.0),
        (lambda z: 1.0 if z < 0 else -2.0, 1.0, 2.0),
        (lambda z: -(z**3), math.inf, math.inf),
        (lambda z: -np.sinh(z), math.inf, math.inf),
        (lambda z: -np.sign(z) * np.abs(z) ** 0.1, math.inf, math.inf),
        (lambda z: np.where(z < 0, 1.0 - 1.0 / (2.0 + np.abs(z)), -z), 1.0, math.inf),
        (lambda z: 0.5 - np.tanh(z), 1.5, 0.5),
        (lambda z: 0.0 * z, 0.0, 0.0),
        (lambda z: z, -math.inf, -math.inf),
    ],
)
def test_plateaus_are_found(function, left, right):
    drift = Drift.from_callable(function)
    assert (drift.left, drift.right) == pytest.approx((left, right), rel=1e-9)
    np.testing.assert_array_equal(drift(np.array([-0.5, 2.0])), [function(-0.5), function(2.0)])
    assert isinstance(drift(0.5), float)


def test_given_plateaus_are_checked():
    slow = lambda z: -np.sign(z) * np.log1p(np.abs(z))  # noqa: E731
    with pytest.raises(lc.ParameterError, match=r"plateau on the left cannot be read off f.*give left="):
        Drift.from_callable(slow)
    assert Drift.from_callable(slow, left=math.inf, right=math.inf).left == math.inf
    with pytest.raises(lc.ParameterError, match=r"left=2\.0 contradicts f"):
        Drift.from_callable(np.tanh, left=2.0)
    with pytest.raises(lc.ParameterError, match="right=inf contradicts f"):
        Drift.from_callable(lambda z: -np.tanh(z), right=math.inf)
    with pytest.raises(lc.ParameterError, match="left='a' must be"):
        Drift.from_callable(lambda z: -np.tanh(z), left="a")


def test_bad_functions():
    for function, message in (
        (3, "f=3 must be a function"),
        (lambda a, b: a, "f fails at zeta=-1.5: TypeError"),
        (np.sqrt, "f must be finite"),
        (lambda z: np.where(np.abs(z) > 100, np.nan, -z), r"f\(zeta=-119.962\) is nan"),
    ):
        with pytest.raises(lc.ParameterError, match=message):
            Drift.from_callable(function)
    with pytest.raises(lc.ParameterError, match="compile=True, but f cannot be compiled"):
        Drift.from_callable(lambda z: -z / (1 + abs(z)) + len(str(object())), compile=True)
    with pytest.raises(lc.ParameterError, match="compile='yes' must be one of"):
        Drift.from_callable(lambda z: -z, compile="yes")


def test_given_flow_is_used_and_checked():
    exact = lambda z, t: np.arcsinh(np.exp(-t) * np.sinh(z))  # noqa: E731
    drift = Drift.from_callable(lambda z: -np.tanh(z), flow=exact)
    assert drift.flow(1.0, 0.5) == exact(1.0, 0.5)
    with pytest.raises(lc.ParameterError, match="flow contradicts f"):
        Drift.from_callable(lambda z: -np.tanh(z), flow=lambda z, t: z)
    numerical = Drift.from_callable(lambda z: -np.tanh(z))
    assert numerical.flow(1.0, 0.5) == pytest.approx(exact(1.0, 0.5), abs=1e-11)


def test_escaping_flow_is_an_error():
    with pytest.raises((lc.ConvergenceError, lc.ParameterError)):
        Drift.from_callable(lambda z: -(z**3)).flow(1.0, -1.0)


def test_compiled_when_it_can_be():
    assert Drift.from_callable(lambda z: -math.tanh(z)).compiled(0.5) == -math.tanh(0.5)
    assert Drift.from_callable(lambda z: -math.tanh(z), compile=False).compiled is None
    table = {0: 1.0}
    assert Drift.from_callable(lambda z: -np.tanh(z) * table[0]).compiled is None


def test_drifts_broadcast():
    drift = SaturatingDrift([1.0, 2.0])
    np.testing.assert_array_equal(drift.left, [1.0, 2.0])
    assert drift(np.zeros((3, 1))).shape == (3, 2)
