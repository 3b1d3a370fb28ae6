import json
import math
import pickle
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

import levycollapse as lc

EM, STRANG = "euler-maruyama", "strang"


def gaussian_model(drift=None, eta_G=0.5):
    """Without jumps: every moment of a linear drift is then known."""
    return lc.CollapseModel(drift or lc.SaturatingDrift(kappa=1.0), eta_G, lc.TemperedStable(1.5, 3.0, 0.0))


def soft(z):
    return -1.5 * z / np.sqrt(1.0 + z * z)


def soft_flow(z, t):
    # Not the flow of `soft`, but of -z.
    return z * np.exp(-t)


COMPILED = lc.Drift.from_callable(soft)
PYTHON = lc.Drift.from_callable(soft, compile=False)
DRIFTS = {
    "tanh": lc.SaturatingDrift(kappa=1.0),
    "two plateaus": lc.SaturatingDrift(kappa=1.0, center=0.3, kappa_right=2.0),
    "linear": lc.LinearDrift(rate=0.5),
    "compiled": COMPILED,
    "python": PYTHON,
}
each_drift = pytest.mark.parametrize("drift", DRIFTS)
each_scheme = pytest.mark.parametrize("scheme", [EM, STRANG])


def simulate(drift="tanh", n_paths=1400, t_end=2.1, dt=0.1, **options):
    """1400 paths are three blocks, 21 steps an odd number; rng is fixed."""
    if "continue_from" not in options:
        options.setdefault("rng", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lc.SlowDriftWarning)
        return lc.simulate(gaussian_model(DRIFTS[drift]), n_paths, t_end, dt, **options)


# The same bits, however the work is cut.


@each_drift
@each_scheme
def test_threads(drift, scheme):
    one = simulate(drift, scheme=scheme, store_every=4, n_threads=1)
    assert one.identical(simulate(drift, scheme=scheme, store_every=4, n_threads=2))
    assert one.identical(simulate(drift, scheme=scheme, store_every=4))


@each_drift
@each_scheme
@pytest.mark.parametrize("middle", [0.1, 1.0, 1.1, 1.6])
def test_two_calls(drift, scheme, middle):
    whole = simulate(drift, scheme=scheme, store_every=3)
    first = simulate(drift, t_end=middle, scheme=scheme, store_every=3)
    second = simulate(drift, scheme=scheme, store_every=3, continue_from=first)
    assert np.array_equal(second.state, whole.state)
    both = xr.concat([first.zeta, second.zeta], "time")
    # The first call stores its end as well, which need not be a multiple of three steps.
    assert np.array_equal(both.sel(time=whole.time), whole.zeta)
    assert second.attrs == whole.attrs


@each_drift
@each_scheme
def test_subset_of_paths(drift, scheme):
    whole = simulate(drift, scheme=scheme, store_every=5)
    chosen = [1399, 0, 512, 511, 17]
    some = simulate(drift, scheme=scheme, store_every=5, paths=chosen)
    # NumPy may take another instruction for the end of an array than for its middle.
    equal = np.allclose if drift == "python" else np.array_equal
    assert equal(some.zeta, whole.zeta.sel(path=chosen))
    assert some.path.values.tolist() == chosen
    alone = simulate(drift, scheme=scheme, store_every=5, paths=[17])
    assert equal(alone.zeta[0], whole.zeta[17])


@each_scheme
def test_what_is_stored_does_not_matter(scheme):
    every = simulate(scheme=scheme, store_every=1)
    ends = simulate(scheme=scheme)
    watched = simulate(scheme=scheme, store_every=7, observe=lc.Moments(every=2))
    assert np.array_equal(ends.zeta, every.zeta.isel(time=[0, -1]))
    assert np.array_equal(watched.zeta, every.zeta.isel(time=[0, 7, 14, 21]))


def test_paths_do_not_depend_on_their_number():
    assert np.array_equal(simulate(n_paths=300).zeta, simulate(n_paths=1400).zeta[:300])


def test_seeds():
    one = simulate(rng=1)
    assert one.identical(simulate(rng=np.random.SeedSequence(1)))
    assert not np.array_equal(one.zeta, simulate(rng=2).zeta)
    assert not np.array_equal(simulate(rng=None).zeta, simulate(rng=None).zeta)
    generator = np.random.default_rng(3)
    first, second = simulate(rng=generator), simulate(rng=generator)
    assert not np.array_equal(first.zeta, second.zeta)
    generator = np.random.default_rng(3)
    assert simulate(rng=generator).identical(first)
    assert simulate(rng=generator).identical(second)


@each_scheme
def test_continue_from_a_file(tmp_path, scheme):
    watched = simulate(scheme=scheme, t_end=1.1, observe=[lc.Histogram([-1.0, 0.0, 1.0]), lc.Moments((1, 2))])
    watched.to_netcdf(tmp_path / "part.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "part.nc", engine="h5netcdf") as opened:
        part = opened.load()
    whole = simulate(scheme=scheme, observe=[lc.Histogram([-1.0, 0.0, 1.0]), lc.Moments((1, 2))])
    gone_on = simulate(scheme=scheme, continue_from=part)
    assert np.array_equal(gone_on.zeta[:, -1], whole.zeta[:, -1])
    assert gone_on.attrs == whole.attrs


def test_continue_some_of_the_paths():
    whole = simulate()
    part = simulate(t_end=1.0)
    some = simulate(continue_from=part, paths=[600, 3])
    assert np.array_equal(some.zeta[:, -1], whole.zeta[[600, 3], -1])
    again = simulate(t_end=3.0, continue_from=some)
    assert again.path.values.tolist() == [600, 3]
    with pytest.raises(lc.ParameterError, match="does not have path 4"):
        simulate(t_end=3.0, continue_from=some, paths=[3, 4])


def test_a_path_twice_is_refused():
    """Two rows of one index could not be continued."""
    with pytest.raises(lc.ParameterError, match="paths must be different indices; 3 is there more than once"):
        simulate(paths=[5, 3, 1, 3])


# What comes out.


def test_layout():
    result = simulate(store_every=10)
    assert result.zeta.dims == ("path", "time")
    assert np.allclose(result.time, [0.0, 1.0, 2.0, 2.1], rtol=0, atol=1e-15)
    assert result.zeta.dtype == np.float64
    content = json.loads(result.attrs["simulation"], parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert content["step"] == 21
    assert content["scheme"] == EM
    assert content["dt"] == 0.1
    assert content["model"]["alpha"] == 1.5
    assert set(result.attrs) == {"simulation"}
    assert simulate().sizes == {"path": 1400, "time": 2}


def test_initial_forms():
    start = np.linspace(-3.0, 3.0, 1400)
    assert np.array_equal(simulate(initial=start).zeta[:, 0], start)
    assert np.array_equal(simulate(initial=start, paths=[5, 1]).zeta[:, 0], start[[5, 1]])
    assert (simulate(initial=2.5).zeta[:, 0] == 2.5).all()


class Wide:
    def rvs(self, size, rng):
        return rng.normal(3.0, 2.0, size)


def test_initial_distribution():
    drawn = simulate(n_paths=3000, initial=Wide()).zeta[:, 0].values
    assert abs(drawn.mean() - 3.0) < 4 * 2.0 / np.sqrt(3000)
    assert abs(drawn.std() - 2.0) < 4 * 2.0 / np.sqrt(6000)
    assert np.unique(drawn).size == 3000
    # A path's initial state is its own, whatever else is simulated.
    assert np.array_equal(simulate(n_paths=2000, initial=Wide()).zeta[:, 0], drawn[:2000])
    assert np.array_equal(simulate(n_paths=3000, initial=Wide(), paths=[2900, 7]).zeta[:, 0], drawn[[2900, 7]])


def test_initial_distribution_of_scipy_signature():
    class Frozen:
        def rvs(self, size, rng):
            return norm(1.0).rvs(size, rng)

    assert abs(simulate(initial=Frozen()).zeta[:, 0].mean() - 1.0) < 0.2


def test_initial_draws_are_not_those_of_the_steps():
    result = simulate(n_paths=3000, t_end=0.1, initial=Wide())
    before, after = result.zeta.values.T
    drift = lc.SaturatingDrift(kappa=1.0)
    assert abs(np.corrcoef(before, after - before - 0.1 * drift(before))[0, 1]) < 4 / np.sqrt(3000)


def test_compiled_and_python_drift_agree():
    for scheme in (EM, STRANG):
        a, b = (simulate(drift, scheme=scheme) for drift in ("compiled", "python"))
        assert np.abs(a.zeta - b.zeta).max() < 1e-9


def test_exact_flow_of_a_function_is_used():
    """Without it, the flow is numerical; with it, the linear drift's own result comes out to rounding."""
    given = lc.Drift.from_callable(lambda z: -z, flow=soft_flow)
    ours = lc.simulate(gaussian_model(given), 50, 2.0, 0.4, scheme=STRANG, rng=1)
    exact = lc.simulate(gaussian_model(lc.LinearDrift(1.0)), 50, 2.0, 0.4, scheme=STRANG, rng=1)
    assert np.abs(ours.zeta - exact.zeta).max() < 1e-14


def test_linear_drift_has_the_moments_of_its_scheme():
    """Euler-Maruyama: z' = (1-a) z + x. Strang: z' = r^2 z + r x, r = exp(-rate dt/2). Both exactly Gaussian."""
    dt, steps, size, start = 0.1, 30, 40_000, 2.0
    model = gaussian_model(lc.LinearDrift(rate=0.5))
    for scheme, factor, gain in ((EM, 1 - 0.5 * dt, 1.0), (STRANG, math.exp(-0.5 * dt), math.exp(-0.25 * dt))):
        final = lc.simulate(model, size, steps * dt, dt, scheme=scheme, initial=start, rng=4).zeta[:, -1].values
        variance = gain**2 * 2 * 0.5 * dt * (1 - factor ** (2 * steps)) / (1 - factor**2)
        assert abs(final.mean() - start * factor**steps) < 4 * np.sqrt(variance / size)
        assert abs(final.var() / variance - 1) < 4 * np.sqrt(2 / size)


# Observers.


def test_observers_see_what_is_stored():
    histogram = lc.Histogram(np.linspace(-2, 2, 9), every=2, after=0.55)
    moments = lc.Moments((1, 2, 3), about=0.5)
    tau = lc.TimescaleMoments((0.5, -0.25), every=3)
    stored = simulate(store_every=1, observe=[histogram, moments, tau]).zeta
    seen = stored.isel(time=[6, 8, 10, 12, 14, 16, 18, 20]).values
    assert histogram.count == seen.size
    assert np.array_equal(histogram.counts, np.histogram(seen, np.linspace(-2, 2, 9))[0])
    assert histogram.below == (seen < -2).sum()
    assert histogram.above == (seen >= 2).sum()
    assert histogram.density.sum() * 0.5 == pytest.approx(1 - (histogram.below + histogram.above) / seen.size)
    later = stored.values[:, 1:] - 0.5
    assert moments.count == later.size
    assert np.allclose(moments.values, [(later**k).mean() for k in (1, 2, 3)], rtol=1e-12)
    thirds = stored.values[:, 3::3]
    assert np.allclose(tau.values, [np.exp(-0.5 * thirds).mean(), np.exp(0.25 * thirds).mean()], rtol=1e-12)


def test_moments_are_exact():
    rng = np.random.default_rng(2)
    values = rng.normal(size=500) * 10.0 ** rng.uniform(-300, 300, 500)
    values[:3] = [5e-324, -1e308, 1e308]
    moments = lc.Moments((1,))
    for part in np.array_split(rng.permutation(values), 7):
        moments.update(part)
    assert moments.values[0] == float(sum(map(Fraction, values.tolist())) / 500)


def test_pieces_merge_to_the_same_sums():
    """Threads, calls, subsets of paths and processes, in any order: equal to the last bit."""

    def watchers():
        return [lc.Histogram([-1.0, 0.0, 2.0]), lc.Moments((1, 2, 4)), lc.TimescaleMoments((0.3,))]

    whole, halves, left, right = watchers(), watchers(), watchers(), watchers()
    simulate(observe=whole, n_threads=1)
    part = simulate(t_end=1.1, observe=halves, n_threads=2)
    simulate(continue_from=part, observe=halves)
    simulate(observe=left, paths=range(301))
    simulate(observe=right, paths=range(301, 1400))
    for one, two, a, b in zip(whole, halves, left, right, strict=True):
        assert one.to_dict() == two.to_dict() == b.merge(a).to_dict()
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False)) == one.to_dict()
        assert type(one).from_dict(one.to_dict()).to_dict() == one.to_dict()
    assert [o.to_dict() for o in lc.observed(part)] != [o.to_dict() for o in whole]
    gone_on = simulate(continue_from=part)
    assert [o.to_dict() for o in lc.observed(gone_on)] == [o.to_dict() for o in whole]


def test_unlike_observers_do_not_merge():
    with pytest.raises(lc.ParameterError, match="different settings"):
        lc.Moments((1,)).merge(lc.Moments((1,), every=2))
    with pytest.raises(lc.ParameterError, match="different settings"):
        lc.Histogram([0.0, 1.0]).merge(lc.Histogram([0.0, 2.0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lc.Histogram([1.0]), "edges"),
        (lambda: lc.Histogram([1.0, 1.0]), "edges"),
        (lambda: lc.Moments((0,)), "orders"),
        (lambda: lc.Moments((1.5,)), "orders"),
        (lambda: lc.Moments(every=0), "every"),
        (lambda: lc.Moments(after=-1.0), "after"),
        (lambda: lc.Moments((9,)).update([1e200]), "overflows"),
    ],
)
def test_bad_observers(make, message):
    with pytest.raises(lc.ParameterError, match=message):
        make()


def test_memory_is_what_is_stored():
    """1e5 paths, 300 steps, observed every step: 2.4e8 bytes if they were kept."""
    model = gaussian_model()
    lc.simulate(model, 10, 0.1, 0.01, observe=lc.Moments((1, 2)), rng=1)
    tracemalloc.start()
    lc.simulate(model, 100_000, 3.0, 0.01, observe=lc.Moments((1, 2)), rng=1, n_threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Some 50 bytes a path for state, indices, start and end; 16 MB of read-out and its chunks.
    assert peak < 25e6 + 60 * 100_000


# What is refused and warned of.


def test_nonfinite_state_is_named():
    # dt times the rate is 3: each step multiplies by -2, and path 300 starts so that step 26 or 27 overflows.
    model = gaussian_model(lc.LinearDrift(rate=30.0))
    initial = np.zeros(1400)
    initial[300] = 1.5e300
    with pytest.warns(lc.StepSizeWarning), pytest.raises(lc.NonFiniteStateError) as caught:
        lc.simulate(model, 1400, 10.0, 0.1, initial=initial, rng=1, n_threads=2)
    error = caught.value
    assert (error.path, error.step) == (300, 26)
    assert error.state == 1.5e300 * 2.0**26
    with np.errstate(over="ignore"):
        assert error.drift == model.drift(error.state)
    for text in ("path 300", "step 26", repr(error.state), repr(error.drift)):
        assert text in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.step) == (lc.NonFiniteStateError, str(error), error.step)
    # It is the first bad step: a run up to it succeeds.
    with pytest.warns(lc.StepSizeWarning):
        ok = lc.simulate(model, 1400, 2.6, 0.1, initial=initial, rng=1)
    assert ok.zeta[300, -1] == error.state


def test_nonfinite_state_of_a_python_drift():
    def cubic(z):
        return -z * z * z

    drift = lc.Drift.from_callable(cubic, compile=False)
    initial = np.zeros(30)
    initial[7] = 50.0
    with (
        np.errstate(over="ignore"),
        pytest.warns(lc.StepSizeWarning),
        pytest.warns(lc.SlowDriftWarning),
        pytest.raises(lc.NonFiniteStateError, match="path 7 became non-finite in step"),
    ):
        lc.simulate(gaussian_model(drift), 30, 10.0, 0.1, initial=initial, rng=1)


def test_failed_run_leaves_observers_alone():
    moments = lc.Moments((1,))
    with pytest.warns(lc.StepSizeWarning), pytest.raises(lc.NonFiniteStateError):
        lc.simulate(gaussian_model(lc.LinearDrift(30.0)), 10, 200.0, 0.1, rng=1, observe=moments)
    assert moments.count == 0


@each_scheme
def test_steep_drift_warns(scheme):
    limit = {EM: 0.5, STRANG: 1.0}[scheme]
    for drift in (lc.SaturatingDrift(2.0, width=0.5), lc.LinearDrift(4.0)):
        lc.simulate(gaussian_model(drift), 2, limit * 0.25, limit * 0.25, scheme=scheme, rng=1)
        with pytest.warns(lc.StepSizeWarning, match="slope"):
            lc.simulate(gaussian_model(drift), 2, limit * 0.26, limit * 0.26, scheme=scheme, rng=1)


def test_unstable_step_says_so():
    with pytest.warns(lc.StepSizeWarning, match="unstable"):
        lc.simulate(gaussian_model(lc.LinearDrift(30.0)), 2, 0.1, 0.1, rng=1)


def test_python_drift_says_so():
    with pytest.warns(lc.SlowDriftWarning, match="Python"):
        lc.simulate(gaussian_model(PYTHON), 2, 0.1, 0.1, rng=1)


def test_progress_bar(capsys):
    simulate(progress=True)
    assert "path-step" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_paths": 0}, "n_paths=0"),
        ({"n_paths": True}, "n_paths=True"),
        ({"t_end": 2.15}, "whole number of steps"),
        ({"t_end": 0.0}, "t_end"),
        ({"t_end": 0.01}, "whole number of steps"),
        ({"dt": -0.1}, "dt"),
        ({"dt": np.array([0.1, 0.1])}, "dt must be a number"),
        ({"scheme": "milstein"}, "scheme"),
        ({"initial": np.zeros(3)}, "initial"),
        ({"initial": np.nan}, "initial"),
        ({"store_every": 0}, "store_every"),
        ({"observe": ["moments"]}, "Observer"),
        ({"paths": [1400]}, "paths"),
        ({"paths": [-1]}, "paths"),
        ({"paths": [0.5]}, "paths"),
        ({"n_threads": 0}, "n_threads"),
        ({"rng": "seed"}, "rng"),
        ({"continue_from": xr.Dataset()}, "continue_from"),
    ],
)
def test_refused(options, message):
    with pytest.raises(lc.ParameterError, match=message):
        simulate(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0.2, "t_end": 4.0}, "dt=0.1"),
        ({"scheme": STRANG}, "scheme"),
        ({"n_paths": 1401}, "n_paths=1400"),
        ({"drift": "linear"}, "model"),
        ({"t_end": 1.0}, "later than the end"),
        ({"rng": 1}, "rng and initial"),
        ({"initial": 1.0}, "rng and initial"),
    ],
)
def test_refused_continuation(options, message):
    part = simulate(t_end=1.0)
    with pytest.raises(lc.ParameterError, match=message):
        simulate(continue_from=part, **options)


def test_model_must_be_one_model():
    with pytest.raises(lc.ParameterError, match="CollapseModel"):
        lc.simulate("model", 2, 1.0, 0.1)
    with pytest.raises(lc.ParameterError, match="eta_G must be a number"):
        lc.simulate(gaussian_model(eta_G=np.array([0.1, 0.2])), 2, 1.0, 0.1)
    with pytest.raises(lc.ParameterError, match="kappa must be a number"):
        lc.simulate(gaussian_model(lc.SaturatingDrift(np.array([1.0, 2.0]))), 2, 1.0, 0.1)
