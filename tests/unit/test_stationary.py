"""The Fourier method: identities, closed forms, tails, and what it refuses."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.special import gamma, loggamma

import levycollapse as lc
from levycollapse._stationary.box import landscape
from levycollapse._stationary.fourier import solve_tilted
from levycollapse._stationary.problem import problem_of

from .stationary_models import MODELS, gauss, identity_residual, line, rate, reference, threshold, with_drift

_LAWS = {}


def law_of(name):
    if name not in _LAWS:
        _LAWS[name] = lc.stationary_density(MODELS[name])
    return _LAWS[name]


@pytest.mark.parametrize("name", MODELS)
def test_generator_identity(name):
    model, law = MODELS[name], law_of(name)
    left, right = rate(model.drift.left, model), rate(model.drift.right, model)
    for s in (-0.9 * right, -0.3 * right, 0.25 * left, 0.5 * left, 0.9 * left):
        assert abs(identity_residual(model, law, s, left, right)) < 1e-8, s


def test_identity_residual_can_fail():
    """The yardstick of the test above sees a density that is wrong by 1e-6 of itself."""
    model, law = MODELS["alpha 1.3, broad"], law_of("alpha 1.3, broad")

    class Wrong:
        ppf = law.ppf

        @staticmethod
        def pdf(zeta):
            return law.pdf(zeta) * (1.0 + 1e-6 * np.tanh(zeta))

    beta = model.beta
    assert abs(identity_residual(model, Wrong, 0.5 * beta, beta, beta)) > 1e-7


@pytest.mark.parametrize("name", MODELS)
def test_mass_moments_and_status(name):
    model, law = MODELS[name], law_of(name)
    assert law.status is lc.DensityStatus.CONVERGED
    assert law.error < 1e-8 and law.tail_error < 1e-7
    assert law.timescale_moment(0.0) == pytest.approx(1.0, abs=1e-12)
    # M(s) by the identity, where kappa cancels the far tail, against quadrature of the density.
    s = 0.8 * rate(model.kappa, model)
    zeta, weights = line(law, rate(model.kappa, model) - s + 1.0, rate(model.drift.right, model))
    numerator = s * np.sum(model.drift.deficit(zeta) * np.exp(np.log(law.pdf(zeta)) - s * zeta) * weights)
    phi = lc.characteristic(s, model.kappa, model.eta_G, model.eta_J, model.alpha, model.lam)
    assert law.timescale_moment(s) == pytest.approx(-numerator / phi, rel=1e-9)


@pytest.mark.parametrize("ratio", [0.5, 1.25, 5.0, 25.0])
def test_cosh_law_without_jumps(ratio):
    """eta_J = 0: rho = cosh(z)^-ratio/B(1/2, ratio/2), to 1e-12 in the bulk and to 1e-11 far out."""
    model = reference(eta_J=0.0, kappa=0.5, eta_G=0.5 / ratio, center=0.7)
    law = lc.stationary_density(model)
    log_norm = loggamma(0.5) + loggamma(ratio / 2) - loggamma(0.5 * (1.0 + ratio))

    def exact(z):
        return np.exp(-ratio * (np.abs(z) + np.log1p(np.exp(-2 * np.abs(z))) - np.log(2.0)) - log_norm.real)

    bulk = np.linspace(-3.0, 3.0, 201) * max(1.0, 1.0 / ratio)
    assert np.abs(law.pdf(bulk + 0.7) / exact(bulk) - 1.0).max() < 1e-12
    far = -np.geomspace(3.0, 600.0 / ratio, 60)
    assert np.abs(law.pdf(far + 0.7) / exact(far) - 1.0).max() < 1e-11
    assert np.abs(law.pdf(0.7 - far) / exact(far) - 1.0).max() < 1e-11
    assert law.tail.prefactor == pytest.approx(2.0**ratio * np.exp(-log_norm.real - 0.7 * ratio), rel=1e-11)
    assert law.mean_timescale == (np.inf if ratio <= 1 else pytest.approx(law.timescale_moment(1.0)))


@pytest.mark.parametrize(("alpha", "eta_G"), [(1.3, 0.1), (0.7, 0.0), (1.0, 0.2)])
def test_linear_drift_characteristic_function(alpha, eta_G):
    theta, lam, eta_J, center = 0.5, 1.5, 0.4, -1.0
    model = with_drift(lc.LinearDrift(theta, center), eta_G, alpha, lam, eta_J)
    law = lc.stationary_density(model)
    zeta, weights = line(law, lam, lam, resolution=0.25)
    density = law.pdf(zeta)
    for k in (0.3, 1.0, 2.5, 6.0):
        q, w = gauss(np.linspace(0.0, k, 20))
        exponent = np.sum(w * (-eta_G * q**2 + np.log(model.jumps.cf(q))) / (theta * q))
        exact = np.exp(exponent + 1j * k * center)
        assert abs(np.sum(weights * density * np.exp(1j * k * zeta)) - exact) < 1e-10, k
    u, w = gauss(np.linspace(0.0, lam, 400))
    moment = np.exp(np.sum(w * (eta_G * u**2 + model.jumps.symbol(u)) / (theta * u)))
    constant = eta_J * moment / (theta * lam) * np.exp(-lam * center)
    assert law.tail.prefactor == pytest.approx(constant, rel=1e-4)
    assert law.tail.form is lc.TailForm.LINEAR
    # 20% off at 40; linear in 1/z
    z = np.array([24.0, 48.0])
    ratio = law.pdf(-z) / (constant * np.exp(-lam * z) * z ** (-2.0 - alpha))
    assert 2.0 * ratio[1] - ratio[0] == pytest.approx(1.0, abs=0.1)


def test_normal_law():
    """Linear drift without jumps, into both tails as far as numbers go."""
    law = lc.stationary_density(with_drift(lc.LinearDrift(0.5, 2.0), 0.1, 1.5, 1.0, 0.0))
    exact = stats.norm(2.0, np.sqrt(0.2))
    z = 2.0 + np.array([-15.0, -9.0, -3.0, -0.5, 0.0, 1.0, 6.0, 14.0])
    assert law.pdf(z) == pytest.approx(exact.pdf(z), rel=1e-9)
    assert law.cdf(z) == pytest.approx(exact.cdf(z), rel=1e-9)
    assert law.timescale_moment(3.0) == pytest.approx(np.exp(-6.0 + 0.9), rel=1e-11)
    assert law.mean_timescale < np.inf and np.isnan(law.tail.prefactor)


def test_strongly_confining_drift():
    drift = lc.Drift.from_callable(lambda z: z - z**3, left=np.inf, right=np.inf)
    model = with_drift(drift, 0.3, 1.3, 1.5, 0.2)
    law = lc.stationary_density(model, rtol=1e-7)
    zeta, weights = line(law, 1.0, 1.0, resolution=0.2)
    seen = np.abs(zeta) < 30.0
    zeta, weights = zeta[seen], weights[seen]
    for s in (-0.7, 0.7):
        summand = (0.3 * s * s + model.jumps.symbol(s) - s * model.drift(zeta)) * np.exp(-s * zeta) * law.pdf(zeta)
        assert abs(np.sum(weights * summand)) < 1e-7 * np.sum(weights * np.abs(summand))


def deep_solution(model, fraction, depth):
    """An independent far tail: one solve with a large tilt in a long box, normalised at 1e-3 of the density."""
    problem = problem_of(model)
    tilt = fraction * problem.tail_rate
    scene = landscape(problem)
    left, right = scene.edges(tilt, 37.0)
    n = int((right - left) / 0.08) | 1
    return solve_tilted(problem, scene, tilt, left, right, n)


@pytest.mark.parametrize(
    "name",
    ["alpha 0.4, collapsed", "alpha 1, threshold", "alpha 1.3, collapsed", "alpha 1.3, concentrated", "double well"],
)
def test_left_tail_to_1e_minus_30(name):
    """Against one tilted solve in a long box, another grid and no far-tail formula: 1e-6 at every level to 1e-30."""
    model, law = MODELS[name], law_of(name)
    solution = deep_solution(model, 0.85, 70.0)
    zeta = solution.left + solution.step * np.arange(len(solution.values))
    low, high = law.ppf(1e-30), law.ppf(1e-3)
    seen = (zeta > low) & (zeta < high)
    log_ratio = np.log(solution.values[seen]) + solution.tilt * zeta[seen] - np.log(law.pdf(zeta[seen]))
    assert zeta[seen].min() < law._curve.left < zeta[seen].max()
    assert np.ptp(log_ratio) < 1e-6
    # and the distribution function is its integral, level by level
    nodes, weights = gauss(np.linspace(low, high, 400))
    assert law.cdf(low) + weights @ law.pdf(nodes) == pytest.approx(law.cdf(high), rel=1e-12)
    short, weights = gauss(np.linspace(low - 1.0, low, 5))
    assert weights @ law.pdf(short) == pytest.approx(law.cdf(low) - law.cdf(low - 1.0), rel=1e-8)


@pytest.mark.parametrize(
    ("alpha", "share"),
    [(a, s) for a in (0.4, 0.7, 1.0, 1.3, 1.7) for s in (0.5, 1.0, 1.02) if not a == s == 1.0],
)
def test_far_tail_against_mpmath(alpha, share):
    """Pole and cut in mpmath, with the textbook symbol, at distances far beyond any grid.

    Threshold at alpha = 1 dies like 1/(log y)^2, out of mpmath's reach: it has the next test.
    """
    eta_J = share * threshold(alpha)
    model = reference(alpha=alpha, eta_J=eta_J)
    law = lc.stationary_density(model)
    zeta, weights = gauss(np.linspace(-26.0, 26.0, 300))
    weighted = weights * law.pdf(zeta) * model.drift.deficit(zeta)

    def numerator(s):
        return float(s) * float(np.sum(weighted * np.exp(-float(s) * zeta)))

    distance = 45.0
    with mp.workdps(80):
        kappa, eta_G, lam, a = mp.mpf(0.5), mp.mpf(0.1), mp.mpf(1.5), mp.mpf(alpha)

        def phi(s):
            gap = lam - s
            # the upper edge of the cut: gap = y exp(-i pi)
            log_gap = mp.log(gap) if gap > 0 else mp.log(-gap) - 1j * mp.pi
            if a == 1:
                jumps = gap * log_gap + (lam + s) * mp.log(lam + s) - 2 * lam * mp.log(lam)
            else:
                jumps = mp.gamma(-a) * (mp.exp(a * log_gap) + (lam + s) ** a - 2 * lam**a)
            return eta_G * s**2 - kappa * s + eta_J * jumps

        tiny = mp.mpf(10) ** -70
        at_lam = mp.re(phi(lam - tiny)) if share == 1.0 else 0  # the rounding of eta_J*

        def integrand(t):
            y = mp.exp(t) / distance
            return numerator(lam + y) * float(mp.im(-1 / (phi(lam + y) - at_lam)) * mp.exp(-distance * y) * y / mp.pi)

        # Smooth in t: y^alpha or y^-alpha at the far end, exp(-e^t) at the near one.
        t, w = gauss(np.array([-100.0, -60.0, -30.0, -15.0, -8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.2]))
        expected = float(np.sum(w * [integrand(mp.mpf(point)) for point in t]))
        if share > 1.0 or (share == 1.0 and alpha > 1):
            beta = mp.findroot(lambda s: mp.re(phi(s)), model.beta) if share > 1.0 else lam
            regular = 2 * eta_G * beta - kappa
            if a == 1:
                slope = regular + eta_J * (mp.log(lam + beta) - mp.log(lam - beta))
            else:
                near = (lam - beta) ** (a - 1) if beta < lam else 0
                slope = regular + eta_J * mp.gamma(-a) * a * ((lam + beta) ** (a - 1) - near)
            expected += numerator(beta) / float(slope) * float(mp.exp(-distance * (beta - lam)))
    assert law.pdf(-distance) * np.exp(1.5 * distance) == pytest.approx(expected, rel=1e-7)


def test_threshold_at_alpha_one():
    """(N/eta_J)[1/B - (pi^2/6)/B^3] (NUMERICS C.4), whose next term is of order B^-4."""
    eta_J = threshold(1.0)
    tail = law_of("alpha 1, threshold")._far_left
    for z in (1e5, 1e20):
        reduced = tail._sum(tail.weights, np.array([z + tail.end]))[0] * np.exp(-1.5 * tail.end)
        b = np.log(z) + np.log(3.0) + 1.0 + np.euler_gamma + (0.2 * 1.5 - 0.5) / eta_J
        series = law_of("alpha 1, threshold").tail.prefactor * (1.0 / b - np.pi**2 / 6.0 / b**3)
        assert reduced == pytest.approx(series, rel=20.0 / b**3)


def test_prefactor_of_the_root():
    """C against the density where the cut has died, to 1e-6."""
    for eta_J in (0.6, 3.0):
        model = reference(eta_J=eta_J)
        law = lc.stationary_density(model)
        z = -400.0 / model.beta
        leading = law.tail.prefactor * np.exp(model.beta * z)
        gap = (1.5 - model.beta) * 400.0 / model.beta
        assert gap > 30
        assert law.pdf(z) / leading == pytest.approx(1.0, abs=1e-6)
        # and against the solved part, which knows nothing of the constant
        inside = law._curve.left + 0.5
        assert law._curve.pdf(np.array([inside]))[0] == pytest.approx(
            law._far_left.pdf(np.array([inside]))[0], rel=1e-9
        )


def test_prefactor_when_collapsed():
    """A = eta_J M(lam)/|Phi(lam)| with M(lam) by quadrature, to 1e-6; the density tends to it like 1/zeta."""
    model, law = MODELS["alpha 1.3, collapsed"], law_of("alpha 1.3, collapsed")
    phi = lc.characteristic(1.5, model.kappa, model.eta_G, model.eta_J, model.alpha, model.lam)
    assert law.timescale_moment(1.5) < np.inf
    assert law.tail.prefactor == pytest.approx(0.1 * law.timescale_moment(1.5) / abs(phi), rel=1e-6)
    z = np.array([100.0, 200.0, 400.0])
    ratio = law.pdf(-z) * np.exp(1.5 * z) * z**2.3 / law.tail.prefactor
    # two Richardson steps in 1/z: 20% off at 100, 1e-2 in the limit
    once = 2 * ratio[1:] - ratio[:-1]
    assert abs(ratio[0] - 1.0) > 0.02
    assert once[1] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("alpha", [0.7, 1.3])
def test_threshold_series(alpha):
    """NUMERICS C.4: the next terms at threshold, at distances where pdf underflows; taken from the far tail itself."""
    eta_J = threshold(alpha)
    law = lc.stationary_density(reference(alpha=alpha, eta_J=eta_J))
    tail = law._far_left
    z = 1e5
    reduced = tail._sum(tail.weights, np.array([z + tail.end]))[0] * np.exp(-1.5 * tail.end)
    slope = 0.2 * 1.5 - 0.5 + eta_J * gamma(-alpha) * alpha * 3.0 ** (alpha - 1)
    if alpha > 1:
        q = eta_J * gamma(-alpha) / slope
        series = sum(q**n * z ** (-n * (alpha - 1)) / gamma(1 - n * (alpha - 1)) for n in range(4))
        assert law.tail.log_power == 0.0
        assert reduced / law.tail.prefactor == pytest.approx(series, rel=1e-5)
    else:
        e = eta_J * abs(gamma(-alpha))
        series = sum(
            (-slope) ** n * e**-n * z ** (-n * (1 - alpha)) * gamma(alpha) / gamma(alpha - n * (1 - alpha))
            for n in range(4)
        )
        assert law.tail.log_power == pytest.approx(-0.3)
        assert reduced / (law.tail.prefactor * z**-0.3) == pytest.approx(series, rel=1e-3)


def test_envelope_against_quadrature():
    law = law_of("alpha 1.3, broad")
    lags = np.array([0.0, 1e-6, 0.3, 1.0, 50.0, 1e4, 1e8])
    zeta, weights = line(law, 0.12, 0.12, resolution=0.25)
    density = law.pdf(zeta)
    direct = np.array([np.sum(weights * density * np.exp(-lag * np.exp(zeta))) for lag in lags])
    assert law.envelope(lags) == pytest.approx(direct, rel=1e-9)
    beta = MODELS["alpha 1.3, broad"].beta
    far = 1e300
    assert law.envelope(far) == pytest.approx(law.tail.prefactor * gamma(beta) * far**-beta, rel=1e-9)


def test_envelope_by_mellin():
    """int l^(s-1) f(l) dl = Gamma(s) M(s) (THEORY 6), collapsed, where f has logarithms."""
    law = law_of("alpha 1.3, collapsed")
    s = 0.7
    x, w = gauss(np.linspace(-60.0, 60.0, 241))
    total = np.sum(w * np.exp(s * x) * law.envelope(np.exp(x)))
    assert total == pytest.approx(gamma(s) * law.timescale_moment(s), rel=1e-9)


def test_quantiles_and_samples():
    law = law_of("asymmetric plateaus")
    q = np.array([1e-250, 1e-40, 1e-9, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-9])
    z = law.ppf(q)
    assert np.all(np.diff(z) > 0)
    assert law.cdf(z) == pytest.approx(q, rel=1e-11)
    assert law.ppf([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    sample = law.rvs(20_000, rng=np.random.default_rng(7))
    assert stats.kstest(sample, law.cdf).pvalue > 1e-3
    assert np.array_equal(sample[:5], law.rvs(20_000, rng=np.random.default_rng(7))[:5])
    assert isinstance(law.rvs(rng=1), float) and law.rvs((2, 3), rng=1).shape == (2, 3)


def test_timescale_density():
    law = law_of("alpha 1.3, concentrated")
    tau = np.array([0.01, 1.0, 1e3])
    assert law.timescale_pdf(tau) == pytest.approx(law.pdf(-np.log(tau)) / tau)
    x, w = gauss(np.linspace(-40.0, 60.0, 401))
    assert np.sum(w * np.exp(2 * x) * law.timescale_pdf(np.exp(x))) == pytest.approx(law.mean_timescale, rel=1e-8)


@pytest.mark.parametrize(
    ("model", "finite"),
    [
        (reference(kappa=1.0, eta_J=0.9, lam=3.0), True),
        (reference(eta_J=3.0), False),
        (reference(), True),  # collapsed with lam >= 1
        (reference(lam=0.8), False),  # collapsed, and yet no mean
        (reference(lam=1.0, eta_J=0.05), True),
        (reference(eta_J=0.0, eta_G=0.4), True),
        (reference(eta_J=0.0, eta_G=0.6), False),
    ],
)
def test_mean_timescale(model, finite):
    assert np.isfinite(lc.stationary_density(model).mean_timescale) == finite


def test_mirror_and_shift():
    drift = lc.SaturatingDrift(1.0, center=3.0, kappa_right=0.4)
    mirror = lc.SaturatingDrift(0.4, center=-3.0, kappa_right=1.0)
    law = lc.stationary_density(with_drift(drift, 0.3, 1.3, 1.5, 0.3))
    other = lc.stationary_density(with_drift(mirror, 0.3, 1.3, 1.5, 0.3))
    z = np.linspace(-60.0, 60.0, 97)
    assert law.pdf(z) == pytest.approx(other.pdf(-z), rel=1e-9)
    assert law.cdf(z[:40]) == pytest.approx(1.0 - other.cdf(-z[:40]), abs=1e-13)
    plain = lc.stationary_density(with_drift(lc.SaturatingDrift(1.0, kappa_right=0.4), 0.3, 1.3, 1.5, 0.3))
    assert law.pdf(z + 3.0) == pytest.approx(plain.pdf(z), rel=1e-9)
    assert law.envelope(7.0 * np.exp(-3.0)) == pytest.approx(plain.envelope(7.0), rel=1e-9)


def test_slow_saturation():
    """kappa - F ~ 1/zeta^2: no pole and cut, but the identity still holds."""
    drift = lc.Drift.from_callable(lambda z: -z / np.sqrt(1.0 + z * z), left=1.0, right=1.0)
    model = with_drift(drift, 0.3, 1.3, 1.5, 0.9)
    law = lc.stationary_density(model)
    beta = model.beta
    for s in (-0.5 * beta, 0.25 * beta, 0.5 * beta):
        assert abs(identity_residual(model, law, s, beta, beta)) < 1e-8
    assert law.pdf(-300.0) / (law.tail.prefactor * np.exp(-300.0 * beta)) == pytest.approx(1.0, abs=0.02)


def test_options():
    model = reference()
    law = lc.stationary_density(model)
    other = lc.stationary_density(model, box=(-30.0, 28.0), n=700)
    z = np.linspace(-30.0, 20.0, 41)
    assert other.pdf(z) == pytest.approx(law.pdf(z), rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "spectral"}, "method='spectral' must be one of"),
        ({"rtol": 0.0}, "rtol=0.0 must be a finite number > 0"),
        ({"box": (3.0, -3.0)}, "must be two increasing numbers"),
        ({"box": 3.0}, "must be two increasing numbers"),
        ({"n": 3}, "n=3 must be an integer >= 16"),
        ({"walls": (-3.0, 3.0), "method": "fourier"}, "method='fourier' does not take walls"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(lc.ParameterError, match=message.replace("(", r"\(").replace(")", r"\)")):
        lc.stationary_density(reference(), **arguments)


def test_models_without_a_stationary_law():
    for alpha in (0.5, 1.0):
        with pytest.raises(lc.ParameterError, match="no stationary law"):
            lc.stationary_density(reference(alpha=alpha, lam=0.0))
    drift = lc.Drift.from_callable(lambda z: 0.5 - 0.0 * z, left=0.5, right=-0.5)
    with pytest.raises(lc.ParameterError, match="does not restore on the right"):
        lc.stationary_density(with_drift(drift, 0.3, 1.3, 1.5, 0.1))
    with pytest.raises(lc.ParameterError, match="for one model"):
        lc.stationary_density(reference(eta_J=[0.1, 0.2]))
    with pytest.raises(lc.ParameterError, match="must be a CollapseModel"):
        lc.stationary_density(3.0)
    with pytest.raises(lc.ParameterError, match="does not take lam=0"):
        lc.stationary_density(reference(lam=0.0), method="fourier")


def test_says_what_it_could_not_reach():
    kink = with_drift(lc.Drift.from_callable(lambda z: -np.clip(z, -1.0, 1.0), left=1.0, right=1.0), 0.3, 1.3, 1.5, 0.3)
    with pytest.raises(lc.ConvergenceError, match=r"to [0-9.e-]+ only \(.*method='chain'"):
        lc.stationary_density(kink, method="fourier")
    with pytest.raises(lc.ConvergenceError, match="edges"):
        lc.stationary_density(reference(), box=(-6.0, 6.0))
    with pytest.raises(lc.ConvergenceError, match="only"):
        lc.stationary_density(reference(), rtol=1e-17)
    with pytest.raises(lc.ConvergenceError, match="points"):
        lc.stationary_density(reference(eta_G=0.0, alpha=0.2, eta_J=0.02), method="fourier")


def test_bad_evaluation_points():
    law = law_of("alpha 1.3, broad")
    for call in (
        lambda: law.pdf(np.nan),
        lambda: law.ppf(1.5),
        lambda: law.timescale_pdf(0.0),
        lambda: law.envelope(-1.0),
        lambda: law.timescale_moment(np.inf),
    ):
        with pytest.raises(lc.ParameterError):
            call()
    assert law.timescale_moment([0.0, 5.0]).tolist() == [pytest.approx(1.0), np.inf]
    assert law.pdf(-1e9) == 0.0
    assert isinstance(law.pdf(0.0), float) and law.pdf([[0.0]]).shape == (1, 1)
    assert "CONVERGED" in repr(law)


HARD = {
    "beta 0.05": reference(eta_J=float(lc.intensity_for_exponent(0.05, 0.5, 0.1, 1.3, 1.5))),
    "width 0.05": reference(width=0.05),
    "width 0.05, eta_G 0": reference(width=0.05, eta_G=0.0, alpha=0.6, eta_J=1.5 * threshold(0.6, 0.0)),
    "eta_G 0, alpha 0.4": reference(eta_G=0.0, alpha=0.4),
    "lam 50": reference(eta_G=0.001, alpha=1.2, lam=50.0, eta_J=1.5 * float(lc.jump_threshold(0.5, 0.001, 1.2, 50.0))),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_cases(name):
    model = HARD[name]
    law = lc.stationary_density(model)
    left = rate(model.kappa, model)
    zeta, weights = law._nodes()  # half a million even points would be needed otherwise
    steps, w = gauss(np.linspace(0.0, 1.0, 401) ** 2 * 90.0 / left)
    below, above = law._curve.left - steps, law._curve.right + steps
    zeta = np.concatenate([zeta, below, above])
    weights = np.concatenate([weights, w * law.pdf(below), w * law.pdf(above)])
    for s in (-0.3 * left, 0.5 * left):
        generator = model.eta_G * s * s + model.jumps.symbol(s)
        summand = (generator - s * model.drift(zeta)) * np.exp(-s * zeta) * weights
        assert abs(summand.sum()) < 1e-8 * np.abs(summand).sum()
    assert law.error < 1e-8
