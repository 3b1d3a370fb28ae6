"""The pictures: what they show, and a tolerant comparison with a golden one."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pytest

import levycollapse as lc
from levycollapse import plotting
from tests.conftest import REFERENCE

GOLDEN = Path(__file__).parent / "golden_phase_diagram.png"


def small_diagram(**axes):
    axes = axes or {"eta_J": np.geomspace(0.01, 20, 80), "alpha": np.linspace(0.05, 1.95, 80)}
    return lc.phase_diagram(**{**REFERENCE, **axes})


def picture(path: Path) -> np.ndarray:
    """Grey levels on a coarse grid, which forgives other fonts and line renderings."""
    grey = mpl.image.imread(path)[..., :3].mean(axis=-1)
    rows, columns = (grey.shape[0] // 12 * 12, grey.shape[1] // 12 * 12)
    return grey[:rows, :columns].reshape(rows // 12, 12, columns // 12, 12).mean(axis=(1, 3))


def test_golden_picture(tmp_path):
    with plotting.style():
        ax = plotting.plot_phase_diagram(small_diagram())
        png, pdf = plotting.save_figure(ax, tmp_path / "figure")
    assert pdf.stat().st_size > 10_000
    new, old = picture(png), picture(GOLDEN)
    assert new.shape == old.shape
    assert np.sqrt(np.mean((new - old) ** 2)) < 0.04
    # The comparison can fail: a picture of another model is farther away.
    with plotting.style():
        ax = plotting.plot_phase_diagram(
            lc.phase_diagram(
                **{**REFERENCE, "lam": 1.5, "eta_J": np.geomspace(0.01, 20, 80), "alpha": np.linspace(0.05, 1.95, 80)}
            )
        )
        png, _ = plotting.save_figure(ax, tmp_path / "other")
    assert np.sqrt(np.mean((picture(png) - old) ** 2)) > 0.06


def test_labels_and_curves():
    with plotting.style():
        ax = plotting.plot_phase_diagram(small_diagram())
        ax.figure.draw_without_rendering()
    texts = {text.get_text() for text in ax.texts}
    assert {"collapsed", "concentrated", "broad"} <= texts
    legend = {text.get_text() for text in ax.get_legend().get_texts()}
    assert any("threshold" in text for text in legend)
    assert any("critical" in text for text in legend)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"stability index $\alpha$", r"jump intensity $\eta_J$")
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    width, height = ax.figure.get_size_inches()
    assert width == plotting.COLUMN_WIDTH
    # Nothing sticks out of the page.
    box = ax.figure.get_tightbbox()
    assert box.x0 > -0.01 and box.y0 > -0.01 and box.x1 < width + 0.01 and box.y1 < height + 0.01


@pytest.mark.parametrize(
    "axes",
    [
        {"alpha": np.linspace(0.05, 1.95, 40), "lam": np.geomspace(0.1, 30, 40)},
        {"kappa": np.linspace(0.1, 3, 30), "eta_G": np.linspace(0, 1, 30)},
        {"eta_J": np.geomspace(1e-4, 1e-3, 10), "alpha": np.linspace(0.1, 1.0, 10)},  # collapsed everywhere
        {"eta_J": np.geomspace(10, 100, 10), "kappa": np.linspace(0.1, 1.0, 10)},  # broad everywhere
    ],
    ids=["branches", "no jumps axis", "only collapsed", "only broad"],
)
def test_other_axes_are_drawn(axes, tmp_path):
    with plotting.style():
        ax = plotting.plot_phase_diagram(small_diagram(**axes))
        plotting.save_figure(ax, tmp_path / "figure")


def test_given_axes_are_used_and_pyplot_is_not():
    import sys

    ax = plotting.new_axes()
    assert plotting.plot_phase_diagram(small_diagram(), ax=ax) is ax
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_refusals(tmp_path):
    with pytest.raises(lc.ParameterError, match="a picture needs two"):
        plotting.plot_phase_diagram(lc.phase_diagram(**{**REFERENCE, "alpha": [1.0, 1.5]}))
    with pytest.raises(lc.ParameterError, match="must be a Dataset made by phase_diagram"):
        plotting.plot_phase_diagram(small_diagram().drop_vars("threshold"))
    with pytest.raises(FileNotFoundError):
        plotting.save_figure(plotting.new_axes(), tmp_path / "missing" / "figure")
    assert list(tmp_path.iterdir()) == []


def test_paths_and_distribution():
    model = lc.CollapseModel.from_parameters(**REFERENCE)
    result = lc.simulate(model, 300, 2.0, 0.1, store_every=5, rng=1)
    ax = plotting.plot_paths(result, count=4)
    np.testing.assert_array_equal(ax.lines[2].get_ydata(), result["zeta"][2])
    for horizontal in (False, True):
        ax = plotting.plot_distribution(result, horizontal=horizontal)
        (stairs,) = ax.patches
        heights, edges, _ = stairs.get_data()
        assert np.sum(heights * np.diff(edges)) == pytest.approx(1.0)
    with pytest.raises(lc.ParameterError, match="made by simulate"):
        plotting.plot_paths(small_diagram())
    with pytest.raises(lc.ParameterError, match="count=0 must be"):
        plotting.plot_paths(result, count=0)
    start = lc.simulate(model, 5, 0.1, 0.1, rng=1).isel(time=[0])
    plotting.plot_distribution(start)  # all states equal
