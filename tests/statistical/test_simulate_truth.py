"""Simulated laws against what is known exactly: weak orders without Monte Carlo, identities with it."""

import numpy as np
import pytest

import levycollapse as lc
from levycollapse._simulate.observers import Observer
from tests.transfer import stationary

EM, STRANG = "euler-maruyama", "strang"
STANDARD = (0.1, 0.62, 1.5, 3.0)
#: eta_G, eta_J, alpha, lam with kappa = 1: alpha 0.5 to 1.9, with and without Gaussian noise; the second and the
#: last are below threshold, where the range of s ends at lam.
MODELS = [
    STANDARD,
    (0.1, 0.1, 1.5, 3.0),
    (0.0, 0.62, 1.5, 3.0),
    (0.3, 0.5, 0.5, 2.0),
    (0.0, 1.0, 0.7, 3.0),
    (0.05, 0.3, 1.9, 3.0),
    (0.2, 0.4, 1.0, 4.0),
    (0.0, 0.2, 1.2, 5.0),
]
#: Parts of the range of s; beyond half of it the summand has no variance.
PARTS = (-0.4, -0.2, 0.2, 0.4)


def model_of(parameters):
    eta_G, eta_J, alpha, lam = parameters
    return lc.CollapseModel.from_parameters(kappa=1.0, eta_G=eta_G, eta_J=eta_J, alpha=alpha, lam=lam)


def orders_of(model):
    end = model.beta if np.isfinite(model.beta) else model.lam
    return [part * end for part in PARTS]


class PathMeans(Observer):
    """Means over the times of each path, of functions of zeta: paths are independent, times are not."""

    kind = "path-means"

    def __init__(self, functions, **options):
        super().__init__(**options)
        self.functions, self.times, self.sums, self.squares = functions, 0, 0.0, 0.0

    count = property(lambda self: self.times)

    def _settings(self):
        return {**super()._settings(), "functions": self.functions}

    def _take(self, zeta):
        values = np.array([f(zeta) for f in self.functions])
        self.times += zeta.shape[0]
        self.sums = self.sums + values.sum(axis=1)
        self.squares = self.squares + (values**2).sum(axis=(1, 2))

    def _absorb(self, other):
        self.times += other.times
        self.sums = self.sums + other.sums
        self.squares = self.squares + other.squares

    def _state(self):
        return {}

    def _restore(self, state):
        raise NotImplementedError

    def scores(self):
        """z-score of mean 0 and number of independent values that would have the same standard error."""
        means = self.sums / self.times
        paths = means.shape[1]
        mean, error = means.mean(axis=1), means.std(axis=1, ddof=1) / np.sqrt(paths)
        variance = self.squares / (paths * self.times) - mean**2
        return mean / error, variance / error**2


def generator_identity(model, s):
    """Mean 0 under the stationary law of the SDE (THEORY 5)."""
    symbol = model.eta_G * s * s + model.jumps.symbol(abs(s))
    return lambda z: (symbol - s * model.drift(z)) * np.exp(-s * z)


def euler_identity(model, s, dt):
    """Mean 0 under the stationary law of Euler-Maruyama (NUMERICS C.8)."""
    symbol = model.eta_G * s * s + model.jumps.symbol(abs(s))
    return lambda z: np.expm1(dt * (symbol - s * model.drift(z))) * np.exp(-s * z)


def strang_identity(model, s, dt):
    """Mean 0 under the stationary law of Strang splitting (NUMERICS C.8)."""
    growth = np.exp(dt * (model.eta_G * s * s + model.jumps.symbol(abs(s))))

    def difference(z):
        return np.exp(-s * model.drift.flow(z, -0.5 * dt)) - growth * np.exp(-s * model.drift.flow(z, 0.5 * dt))

    return difference


def watched(model, functions, scheme, dt, *, n_paths, burn_in, t_end, every, rng):
    means = PathMeans(functions, every=every, after=burn_in)
    lc.simulate(model, n_paths, t_end, dt, scheme=scheme, observe=means, rng=rng)
    return means.scores()


# Without Monte Carlo.


@pytest.fixture(scope="module")
def truth():
    """E exp(-zeta/4) and E cos zeta of the SDE: Strang at 0.05 and 0.025, extrapolated."""
    coarse, fine = (expectations(STRANG, dt) for dt in (0.05, 0.025))
    return (4.0 * fine - coarse) / 3.0


def expectations(scheme, dt):
    weights, zeta = stationary(model_of(STANDARD), scheme, dt)
    return np.array([weights @ np.exp(-0.25 * zeta), weights @ np.cos(zeta)])


@pytest.mark.parametrize(("scheme", "order"), [(EM, 1), (STRANG, 2)])
def test_weak_order(truth, scheme, order):
    errors = np.array([expectations(scheme, dt) - truth for dt in (0.4, 0.2, 0.1)])
    measured = np.log2(errors[:-1] / errors[1:])
    assert np.abs(measured - order).max() < 0.1


def test_truth_is_the_generators(truth):
    """M(1/4) from the exact identity M(s) = s E[(kappa - F) exp(-s zeta)]/(-Phi(s)), on Strang's law at 0.025."""
    model, s = model_of(STANDARD), 0.25
    weights, zeta = stationary(model, STRANG, 0.025)
    phi = lc.characteristic(s, model.kappa, model.eta_G, model.eta_J, model.alpha, model.lam)
    moment = s * (weights @ ((model.kappa - model.drift(zeta)) * np.exp(-s * zeta))) / -phi
    assert abs(moment / truth[0] - 1) < 3e-5


@pytest.mark.parametrize(("scheme", "identity"), [(EM, euler_identity), (STRANG, strang_identity)])
def test_finite_step_identities_on_the_transfer_operator(scheme, identity):
    model = model_of(STANDARD)
    weights, zeta = stationary(model, scheme, 0.4)
    for s in orders_of(model):
        assert abs(weights @ identity(model, s, 0.4)(zeta)) < 1e-5
        other = strang_identity if identity is euler_identity else euler_identity
        assert abs(weights @ other(model, s, 0.4)(zeta)) > 1e-3


# By Monte Carlo. Seeds are fixed, one for each test.


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_generator_identity(number):
    model = model_of(MODELS[number])
    functions = [generator_identity(model, s) for s in orders_of(model)]
    # At the ends of the range the number of effective values varies by a third between seeds.
    t_end = 320.0 if model.beta < 1 else 120.0
    score, effective = watched(
        model, functions, STRANG, 0.1, n_paths=8192, burn_in=60.0, t_end=t_end, every=10, rng=100 + number
    )
    assert effective.min() > 1e5
    assert np.abs(score).max() < 4


@pytest.mark.full
@pytest.mark.parametrize("number", range(len(MODELS)))
def test_generator_identity_at_1e7(number):
    model = model_of(MODELS[number])
    functions = [generator_identity(model, s) for s in orders_of(model)]
    # The broad model moves slowly: its relaxation time is about 10, that of the others 3.
    slow = model.beta < 1
    score, effective = watched(
        model,
        functions,
        STRANG,
        0.1,
        n_paths=262_144,
        burn_in=200.0 if slow else 60.0,
        t_end=1000.0 if slow else 260.0,
        every=20 if slow else 10,
        rng=200 + number,
    )
    assert effective.min() > 1e7
    assert np.abs(score).max() < 4


def test_generator_identity_rejects_euler_maruyama():
    model = model_of(STANDARD)
    functions = [generator_identity(model, s) for s in orders_of(model)]
    score, _ = watched(model, functions, EM, 0.4, n_paths=8192, burn_in=60.0, t_end=120.0, every=4, rng=301)
    assert np.abs(score).min() > 10


@pytest.mark.parametrize(("scheme", "identity"), [(EM, euler_identity), (STRANG, strang_identity)])
@pytest.mark.parametrize("number", [0, 1, 4])
def test_finite_step_identities(scheme, identity, number):
    model = model_of(MODELS[number])
    functions = [identity(model, s, 0.4) for s in orders_of(model)]
    score, effective = watched(
        model, functions, scheme, 0.4, n_paths=8192, burn_in=60.0, t_end=120.0, every=4, rng=401 + number
    )
    assert effective.min() > 1e5
    assert np.abs(score).max() < 4


def test_increments_sum_to_their_own_law():
    """Without drift to speak of, the sum over n steps has the variance of one step of n dt (anchors H2)."""
    model = lc.CollapseModel(lc.LinearDrift(1e-12), 0.1, lc.TemperedStable(1.5, 3.0, 0.62))
    for dt in (0.01, 0.1, 1.0):
        final = lc.simulate(model, 40_000, 1.0, dt, rng=17).zeta[:, -1].values
        law = model.increment(1.0)
        spread = np.sqrt((law.cumulant(4) + 2 * law.var**2) / final.size)
        assert abs(final.var() - law.var) < 4 * spread
