"""The picture of windows, and of their phase diagram."""

from __future__ import annotations

import matplotlib.collections as collections
import numpy as np
import pytest

import levycollapse as lc

NOISE = lc.StableNoise(alpha=1.5, scale=1.0, signal=2.0, level=0.05)
N = np.geomspace(10, 1e7, 30)


def test_lines_are_the_windows():
    laws = {"exponential": lc.ExponentialEnvelope(rate=0.1), "power": lc.PowerEnvelope(exponent=0.8)}
    found = {name: lc.learnability_window(law, N, NOISE) for name, law in laws.items()}
    ax = lc.plotting.new_axes()
    assert lc.plotting.plot_window(found, ax, information=True) is ax
    assert len(ax.lines) == 4
    for line, limit, name in zip(ax.lines[::2], ax.lines[1::2], laws, strict=True):
        seen = found[name].window >= 1
        np.testing.assert_array_equal(line.get_ydata()[seen], found[name].window[seen])
        assert np.isnan(line.get_ydata()[~seen]).all()
        assert line.get_label() == name
        assert limit.get_color() == line.get_color()
        assert np.nanmax(limit.get_ydata()) <= ax.get_ylim()[1]
    assert ax.get_legend() is not None
    ax.figure.canvas.draw()


def test_bands_and_ends_of_tables():
    ax = lc.plotting.plot_window(
        lc.learnability_window(lc.Pareto(0.8), N, NOISE, width=16, n_networks=60, quantiles=[0.1, 0.5, 0.9], rng=0)
    )
    assert sum(isinstance(item, collections.PolyCollection) for item in ax.collections) == 1
    table = lc.learnability_window(([1.0, 10.0, 100.0], [1.0, 0.5, 0.2]), N, NOISE)
    ax = lc.plotting.plot_window(table)
    marks = ax.lines[-1]
    assert marks.get_marker() == "^"
    np.testing.assert_array_equal(marks.get_ydata(), 100.0)
    np.testing.assert_array_equal(marks.get_xdata(), N[table.status == lc.WindowStatus.BEYOND_TABLE])


def test_bad_input():
    deaf = lc.StableNoise(alpha=1.5, scale=1.0, signal=0.0, level=0.05)
    for windows, message in (
        ("x", "windows='x' must be results of learnability_window"),
        (lc.learnability_window(lc.Pareto(0.8), 10, NOISE), r"N of shape \(\)"),
        (lc.learnability_window(lc.Pareto(0.8), N, deaf), "no window between 1 and 1e12"),
    ):
        with pytest.raises(lc.ParameterError, match=message):
            lc.plotting.plot_window(windows)


def test_phase_diagram_of_windows():
    eta_J, alpha = np.geomspace(0.1, 5, 6), np.linspace(0.5, 1.8, 6)
    diagram = lc.phase_diagram(kappa=1.0, eta_G=0.1, eta_J=eta_J, alpha=alpha, lam=3.0)
    # Any numbers will do for a picture; those of a window are slow to compute.
    values = np.geomspace(0.5, 1e9, 36).reshape(6, 6)
    windows = diagram.drop_vars("beta").assign(window=(("eta_J", "alpha"), values))
    ax = lc.plotting.plot_phase_diagram(windows)
    bar = ax.figure.axes[-1]
    assert "H_N" in bar.get_ylabel()
    mesh = next(item for item in ax.collections if isinstance(item, collections.QuadMesh))
    assert mesh.norm.vmax == 1e6
    ax.figure.canvas.draw()
