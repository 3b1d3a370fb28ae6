"""Tampered results and extreme arguments of `simulate`, found by hostile testing."""

import json

import numpy as np
import pytest
import scipy.stats

import levycollapse as lc

MODEL = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)


def run(**changes):
    return lc.simulate(**{"model": MODEL, "n_paths": 8, "t_end": 1.0, "dt": 0.1, **changes})


@pytest.fixture(scope="module")
def result():
    return run(rng=1, observe=[lc.Moments((1, 2)), lc.Histogram([-1.0, 0.0, 1.0])])


def tampered(result, **changes):
    content = {**json.loads(result.attrs["simulation"]), **changes}
    return result.assign_attrs(simulation=json.dumps({k: v for k, v in content.items() if v != "drop"}))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"step": -1}, "step=-1 must be an integer >= 1"),
        ({"step": 1.5}, "step=1.5 must be an integer >= 1"),
        ({"step": "5"}, "step='5' must be"),
        ({"step": True}, "step=True must be"),
        ({"step": 7}, "ends at time"),
        ({"step": "drop"}, "lacks 'step'"),
        ({"other": 1}, "unknown entry 'other'"),
        ({"key": "x"}, "key='x' must be"),
        ({"key": 5}, "key=5 must be"),
        ({"key": hex(1 << 64)}, "key=.* must be"),
        ({"key": "-0x1"}, "key=.* must be"),
        ({"dt": "0.1"}, "dt='0.1' must be"),
        ({"scheme": ["strang"]}, "scheme=.* must be one of"),
        ({"n_paths": 0}, "n_paths=0 must be"),
        ({"model": 1}, "model=1 must be"),
        ({"format": 2}, "format 2"),
        ({"observed": 3}, "observed=3 must be a list"),
        ({"observed": [3]}, r"observed\[0\]=3 must be an observer"),
        ({"observed": [{"kind": "x"}]}, r"observed\[0\]=.*must be an observer"),
        ({"observed": [{"kind": ["moments"]}]}, r"observed\[0\]=.*must be an observer"),
        ({"observed": [{"kind": "moments"}]}, r"observed\[0\] cannot be restored"),
        ({"observed": [{"kind": "moments", "settings": {"a": 1}, "state": {}}]}, "cannot be restored"),
        (
            {"observed": [{"kind": "moments", "settings": {"orders": [1]}, "state": {"count": -1, "sums": ["0x0"]}}]},
            "count=-1",
        ),
        (
            {"observed": [{"kind": "histogram", "settings": {"edges": [0, 1]}, "state": {"counts": 5}}]},
            "counts must be 3 integers",
        ),
    ],
)
def test_tampered_record(result, changes, match):
    with pytest.raises(lc.ParameterError, match=match):
        run(t_end=2.0, continue_from=tampered(result, **changes))


@pytest.mark.parametrize("text", ["{", "[]", "null", "5", "", "[" * 100000, 5, [1, 2]])
def test_record_that_is_no_object(result, text):
    with pytest.raises(lc.ParameterError, match="attribute 'simulation' of continue_from"):
        run(t_end=2.0, continue_from=result.assign_attrs(simulation=text))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda r: r.assign(state=r.state.astype(int)), "state has dtype int64"),
        (lambda r: r.assign(state=r.state.where(r.path != 2)), r"state\[2\]=nan must be a finite number"),
        (lambda r: r.assign(state=r.state.expand_dims(more=2)), "state has dimensions"),
        (lambda r: r.isel(path=0), "state has dimensions"),
        (lambda r: r.isel(path=[]), "state has dimensions"),
        (lambda r: r.assign_coords(path=np.arange(100, 108)), r"path\[0\]=100 must be in 0 .. 7"),
        (lambda r: r.assign_coords(path=np.arange(8) - 1), r"path\[0\]=-1 must be in 0 .. 7"),
        (lambda r: r.assign_coords(path=np.zeros(8, int)), "path 0 is there more than once"),
        (lambda r: r.assign_coords(path=np.arange(8.0)), "path has dtype float64"),
        (lambda r: r.drop_vars("path"), "no coordinate 'path'"),
        (lambda r: r.isel(time=[0]), "ends at time 0.0"),
        (lambda r: r.drop_vars("state"), "with all its variables"),
    ],
)
def test_tampered_variables(result, change, match):
    with pytest.raises(lc.ParameterError, match=match):
        run(t_end=2.0, continue_from=change(result))


def test_parts_of_a_result_still_continue(result):
    whole = run(t_end=2.0, rng=1)
    for part in (result, result.isel(path=[5, 2]), result.isel(time=[-1]), result[["state"]]):
        continued = run(t_end=2.0, continue_from=part)
        assert np.array_equal(continued.zeta[:, -1], whole.zeta[:, -1].sel(path=part.path))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"t_end": 1e300}, r"t_end=1e\+300 is .* steps"),
        ({"dt": 1e-320}, "steps dt=1e-320"),
        ({"n_paths": 10**13}, "take .* GB"),
        ({"n_paths": 10**30}, r"n_paths=1000.* must be an integer from 1 to 2\*\*53"),
        ({"t_end": 1e12, "store_every": 1}, "take .* GB"),
        ({"observe": 5}, "observe=5 must be"),
    ],
)
def test_extreme_arguments(changes, match):
    with pytest.raises(lc.ParameterError, match=match):
        run(**changes)


@pytest.mark.filterwarnings("ignore::levycollapse.StepSizeWarning")
def test_a_step_beyond_doubles():
    with pytest.raises((lc.ParameterError, lc.ConvergenceError)):
        run(dt=1e300, t_end=1e300)


def test_orders_of_moments():
    for made in (lc.TimescaleMoments, lc.Moments):
        with pytest.raises(lc.ParameterError, match="orders"):
            made([[1]])


class _Rvs:
    """An initial condition whose rvs does what it is told."""

    def __init__(self, answer):
        self.answer = answer

    def rvs(self, size, rng):
        return self.answer(size, rng)


def _without_generator(size, rng):
    raise TypeError("rvs() takes 2 positional arguments but 3 were given")


@pytest.mark.parametrize(
    "initial",
    [
        _Rvs(lambda size, rng: "x"),
        _Rvs(lambda size, rng: None),
        _Rvs(lambda size, rng: np.zeros(size, dtype=complex)),
        _Rvs(lambda size, rng: np.zeros((size, 1))),
        _Rvs(lambda size, rng: np.full(size, np.nan)),
        _Rvs(_without_generator),
        scipy.stats.norm,
        lc.TemperedStable(1.5, 3.0, 0.62),
    ],
)
def test_an_initial_object_of_another_kind(initial):
    with pytest.raises(lc.ParameterError, match="initial"):
        run(initial=initial, rng=1)
