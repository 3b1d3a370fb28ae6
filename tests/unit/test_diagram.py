from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import levycollapse as lc
from tests.conftest import REFERENCE

GRIDS = {
    "kappa": np.linspace(0.2, 3.0, 23),
    "eta_G": np.linspace(0.0, 0.8, 21),
    "eta_J": np.geomspace(0.02, 20.0, 25),
    "alpha": np.linspace(0.1, 1.9, 19),
    "lam": np.geomspace(0.3, 30.0, 27),
}
PAIRS = [(a, b) for i, a in enumerate(GRIDS) for b in list(GRIDS)[i + 1 :]]


def diagram(*axes: str, **options) -> xr.Dataset:
    return lc.phase_diagram(**{**REFERENCE, **{name: GRIDS[name] for name in axes}}, **options)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_values_are_those_of_the_functions(pair):
    data = diagram(*pair)
    assert data["beta"].dims == pair
    first, second = (GRIDS[name] for name in pair)
    parameters = {**REFERENCE, pair[0]: first[:, None], pair[1]: second}
    np.testing.assert_array_equal(data["beta"], lc.spectral_exponent(**parameters))
    np.testing.assert_array_equal(data["phase"], lc.phase(**parameters))
    assert {name: data.attrs[name] for name in REFERENCE if name not in pair} == {
        name: value for name, value in REFERENCE.items() if name not in pair
    }


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_boundary_curves_satisfy_their_equations(pair):
    """On a curve Phi(lam) = 0 or Phi(1) = 0, and the phases on its two sides differ as they should."""
    data = diagram(*pair)
    found = 0
    for label, sides in (("threshold", {lc.Phase.COLLAPSED}), ("critical", {lc.Phase.CONCENTRATED})):
        curve = data[label]
        name = curve.attrs["solved_for"]
        other = next(p for p in pair if p != name)
        for value, point in zip(curve.values.reshape(GRIDS[other].size, -1), GRIDS[other], strict=True):
            for branch in value[np.isfinite(value) & (value > 0)]:
                model = {**REFERENCE, name: branch, other: point}
                at = model["lam"] if label == "threshold" else 1.0
                scale = model["kappa"] * at + model["eta_G"] * at**2
                assert abs(lc.characteristic(at, **model)) < 1e-9 * scale
                if name == "alpha" and not 0.1 < branch < 1.9:
                    continue
                two = [lc.phase(**{**model, name: branch * factor}) for factor in (1 - 1e-6, 1 + 1e-6)]
                assert (two[0] in sides) != (two[1] in sides)
                found += 1
    assert found > 5


def test_two_branches_in_lam():
    """For alpha < 1 the threshold is crossed twice in lam: Phi(lam)/lam is convex."""
    data = lc.phase_diagram(kappa=1.0, eta_G=0.05, eta_J=0.3, alpha=np.array([0.3, 1.4]), lam=np.geomspace(0.1, 40, 60))
    threshold = data["threshold"].values
    assert np.isfinite(threshold[0]).all()
    assert threshold[0, 0] < threshold[0, 1]
    assert np.isnan(threshold[1, 0])
    assert np.isfinite(threshold[1, 1])


def test_one_axis_and_none():
    line = diagram("alpha")
    assert line["beta"].dims == ("alpha",)
    assert line["threshold"].dims == ("branch",)
    point = diagram()
    assert point["beta"].item() == lc.spectral_exponent(**REFERENCE)
    assert "threshold" not in point


def test_three_axes():
    data = diagram("kappa", "eta_J", "alpha")
    assert data["beta"].shape == (23, 25, 19)
    assert data["threshold"].dims == ("kappa", "alpha")
    assert data["threshold"][3, 4].item() == lc.jump_threshold(GRIDS["kappa"][3], 0.1, GRIDS["alpha"][4], 3.0)


def test_tail_rate_is_a_number_below_threshold_too():
    data = diagram("eta_J", "alpha", quantity="tail_rate")
    below = data["phase"] == lc.Phase.COLLAPSED
    assert below.any()
    assert (data["tail_rate"].values[below.values] == 3.0).all()
    assert not np.isnan(data["tail_rate"]).any()


def test_progress_and_blocks_change_nothing(monkeypatch, capfd):
    from levycollapse import _diagram

    whole = diagram("eta_J", "alpha")
    monkeypatch.setattr(_diagram, "CHUNK", 40)
    xr.testing.assert_identical(whole, diagram("eta_J", "alpha", progress=True))
    assert "phase diagram" in capfd.readouterr().err


def test_round_trip_through_netcdf(tmp_path):
    data = diagram("eta_J", "alpha")
    data.to_netcdf(tmp_path / "d.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "d.nc", engine="h5netcdf") as read:
        xr.testing.assert_equal(read.load(), data)
        assert read["threshold"].attrs["solved_for"] == "eta_J"
