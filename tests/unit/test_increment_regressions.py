"""Bad input and extreme arguments of the increment law, the spectra and the fit, found by hostile testing."""

import math

import numpy as np
import pytest

import levycollapse as lc
from levycollapse._laws.increment import IncrementLaw
from levycollapse._laws.stable import SymmetricStable

LAW = IncrementLaw(alpha=1.5, lam=3.0, eta_J=0.62, eta_G=0.1, dt=0.01)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.2, 1.8])
def test_the_centre_is_half_exactly_and_monotone(alpha):
    law = lc.TemperedStable(alpha, 2.0, 0.5).increment(0.1)
    assert law.sf(0.0) == law.cdf(0.0) == 0.5
    x = np.array([-1e-6, -1e-12, -1e-320, 0.0, 1e-320, 1e-300, 1e-12, 1e-6])
    cdf = law.cdf(x)
    assert (np.diff(cdf) >= 0.0).all()
    assert np.array_equal(law.sf(-x), cdf)
    assert law.cdf(1e-320) == 0.5


@pytest.mark.parametrize("law", [LAW, lc.TemperedStable(0.7, 2.0, 0.5).increment(0.1)])
def test_far_out_a_tempered_law_underflows(law):
    for x in (1e4, 1e10, 1e300, 1.7e308):
        assert law.pdf(x) == law.pdf(-x) == law.sf(x) == law.cdf(-x) == 0.0
        assert law.cdf(x) == law.sf(-x) == 1.0
    assert np.array_equal(law.pdf([1e300, 0.1, -math.inf]), [0.0, law.pdf(0.1), 0.0])
    assert np.array_equal(law.sf([1e300, 0.1, -1e300]), [0.0, law.sf(0.1), 1.0])


def test_underflow_is_not_declared_too_early():
    x = np.linspace(1.0, 280.0, 300)
    with np.errstate(under="ignore"):
        assert np.array_equal(LAW.pdf(x), np.exp(LAW.logpdf(x)))
        assert np.array_equal(LAW.sf(x), np.exp(LAW.logsf(x)))


@pytest.mark.parametrize("law", [(1.5, 1.0, 1e300, 0.0, 0.1), (1.5, 1.0, 1.0, 0.0, 1e308), (0.5, 1.0, 1e300, 0.0, 0.1)])
@pytest.mark.parametrize("call", ["pdf", "rvs", "isf", "sf"])
def test_a_law_beyond_doubles_is_refused_in_a_sentence(law, call):
    with pytest.raises((lc.ParameterError, lc.ConvergenceError)):
        made = IncrementLaw(*law)
        made.rvs(3, 1) if call == "rvs" else getattr(made, call)(0.3)


@pytest.mark.parametrize("scale", [2.0**-660, 2.0**660, 1e-200, 1e200])
def test_fit_is_equivariant(scale):
    x = lc.TemperedStable(1.2, 2.0, 0.5).rvs(0.1, size=200, rng=1)
    plain, scaled = lc.TemperedStable.fit(x, 0.1), lc.TemperedStable.fit(x * scale, 0.1)
    assert scaled.status == plain.status
    assert scaled.alpha == pytest.approx(plain.alpha, rel=1e-4)
    assert scaled.lam * scale == pytest.approx(plain.lam, rel=1e-3)
    assert math.log(scaled.intensity) - scaled.alpha * math.log(scale) == pytest.approx(
        math.log(plain.intensity), abs=1e-3
    )


def test_fit_refuses_units_in_which_the_estimates_are_no_doubles():
    x = lc.TemperedStable(1.9, 0.1, 0.5).rvs(0.1, size=100, rng=1)
    with pytest.raises(lc.ParameterError, match="other units"):
        lc.TemperedStable.fit(x * 1e300, 1e-300)


@pytest.mark.parametrize("law", [LAW, SymmetricStable(1.5), lc.Pareto(1.5, 2.0)])
@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"rng": -1}, r"rng=-1 must be None, an int >= 0"),
        ({"rng": 1.5}, r"rng=1.5 must be"),
        ({"rng": "x"}, r"rng='x' must be"),
        ({"rng": True}, r"rng=True must be"),
        ({"size": -1}, r"size=-1 must be an integer >= 0"),
        ({"size": 1.5}, r"size=1.5 must be"),
        ({"size": (2, -1)}, r"size=\(2, -1\) must be"),
        ({"size": "a"}, r"size='a' must be"),
    ],
)
def test_bad_rng_and_size(law, arguments, match):
    with pytest.raises(lc.ParameterError, match=match):
        law.rvs(**arguments)


def test_bad_rng_of_density_and_finite_width():
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    density = lc.stationary_density(model)
    for bad in ({"rng": "a"}, {"rng": -1}, {"size": -1}, {"size": 1.5}):
        with pytest.raises(lc.ParameterError, match="must be"):
            density.rvs(**bad)
    assert isinstance(density.rvs(rng=1), float)
    with pytest.raises(lc.ParameterError, match="rng='a' must be"):
        lc.finite_width_envelope(lc.Pareto(1.5, 2.0), [1.0], width=10, rng="a")


def test_messages_name_index_and_value():
    with pytest.raises(lc.ParameterError, match=r"x\[1\]=nan must be a number, which may be infinite"):
        LAW.pdf([0.0, math.nan])
    with pytest.raises(lc.ParameterError, match=r"q\[1\]=1.5 must be a number from 0 to 1"):
        LAW.isf([0.5, 1.5])
    with pytest.raises(lc.ParameterError, match=r"x='a' must be a number, which may be infinite"):
        LAW.pdf("a")


def test_spectra_at_infinity():
    law = lc.Pareto(1.5, 2.0)
    assert law.cdf(math.inf) == 1.0
    assert law.sf([math.inf, -math.inf]).tolist() == [0.0, 1.0]
    assert law.pdf(math.inf) == 0.0
    assert law.cdf(law.ppf(1.0)) == 1.0
    with pytest.raises(lc.ParameterError, match=r"tau=nan must be"):
        law.cdf(math.nan)
