"""Pictures of densities and envelopes: what they show and where."""

from __future__ import annotations

import numpy as np
import pytest

import levycollapse as lc
from levycollapse import plotting

from .stationary_models import reference, threshold


def drawn(line):
    """Points of a line that are shown."""
    x, y = (np.asarray(v, dtype=float) for v in line.get_data())
    return x[np.isfinite(y)], y[np.isfinite(y)]


@pytest.fixture(scope="module")
def law():
    return lc.stationary_density(reference(eta_J=3.0))


def test_density_and_its_law(law):
    ax = plotting.plot_density(law, label="broad")
    density, tail = ax.lines
    x, y = drawn(density)
    np.testing.assert_array_equal(y, law.pdf(x))
    assert 0.3 < y.min() / (1e-12 * y.max()) < 1 and ax.get_ylim()[0] == pytest.approx(1e-12 * law.density.max())
    x, y = drawn(tail)
    np.testing.assert_allclose(y, law.tail.prefactor * np.exp(law.tail.rate * x), rtol=1e-12)
    assert y[0] == pytest.approx(law.pdf(x[0]), rel=1e-3)
    assert (ax.get_yscale(), ax.get_ylabel(), ax.get_xlabel()) == ("log", "density", r"log decay rate $\zeta$")
    assert density.get_label() == "broad" and tail.get_color() == density.get_color()


def test_laws_with_logarithms():
    """Threshold at alpha 0.7 and 1, collapsed, and the logarithmic phase: the dashed line nears the density."""
    for model, close in (
        (reference(alpha=0.7, eta_J=threshold(0.7)), 0.4),
        (reference(alpha=1.0, eta_J=threshold(1.0)), 1.0),
        (reference(), 2.0),
        (reference(alpha=1.5, lam=0.0), 0.1),
    ):
        found = lc.stationary_density(model)
        x, y = drawn(plotting.plot_density(found, depth=1e-30).lines[1])
        factor = np.abs(x) ** found.tail.log_power * np.exp(found.tail.rate * x)
        if found.tail.loglog_power:
            factor = factor * np.log(-x) ** found.tail.loglog_power
        np.testing.assert_allclose(y, found.tail.prefactor * factor, rtol=1e-12)
        assert abs(y[0] / found.pdf(x[0]) - 1) < close


def test_no_law_without_a_constant():
    drift = lc.Drift.from_callable(lambda z: -z - z**3, left=np.inf, right=np.inf)
    found = lc.stationary_density(lc.CollapseModel(drift, 0.5, lc.TemperedStable(1.5, 3.0, 0.0)))
    assert len(plotting.plot_density(found).lines) == 1


def test_histograms(law):
    samples = law.rvs(4000, rng=1)
    observer = lc.Histogram(np.linspace(-12.0, 12.0, 61))
    observer.update(samples)
    ax = plotting.plot_density(law, histogram=observer)
    heights, edges, _ = ax.patches[0].get_data()
    np.testing.assert_array_equal(edges, observer.edges)
    shown = np.isfinite(heights)
    np.testing.assert_array_equal(heights[shown], observer.density[observer.density > 0])
    heights, edges, _ = plotting.plot_density(law, histogram=samples).patches[0].get_data()
    assert np.nansum(heights * np.diff(edges)) == pytest.approx(1.0)


def test_several_share_axes(law):
    narrow = lc.stationary_density(reference(kappa=1.0, eta_J=0.9, lam=3.0))
    alone = plotting.plot_density(narrow)
    ax = plotting.plot_density(law)
    wide = ax.get_xlim()
    assert plotting.plot_density(narrow, ax=ax) is ax
    assert ax.get_xlim() == wide and wide[0] < alone.get_xlim()[0]
    assert ax.get_ylim()[1] == pytest.approx(2.0 * max(law.density.max(), narrow.density.max()))
    assert len({line.get_color() for line in ax.lines}) == 2


def test_envelope():
    lags = np.geomspace(1.0, 1e6, 40)
    spectrum = lc.Pareto(beta=0.8)
    tail = lc.TailLaw(0.8, 0.0, 0.0, 0.8, form=lc.TailForm.POWER)
    asymptote = lc.tauberian_envelope(tail, lags)
    ax = plotting.plot_envelope(lags, spectrum.envelope(lags), asymptote=asymptote, label="Pareto")
    np.testing.assert_array_equal(drawn(ax.lines[0])[1], spectrum.envelope(lags))
    np.testing.assert_array_equal(drawn(ax.lines[1])[1], asymptote.envelope)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlim()) == ("log", "log", (1.0, 1e6))
    slow = lc.tauberian_envelope(lc.TailLaw(1.5, -2.3, 0.0, 1.0, form=lc.TailForm.TEMPERED), lags)
    seen = drawn(plotting.plot_envelope(lags, np.ones(40), asymptote=slow).lines[1])[0]
    assert 1.0 < seen[0] < 1e4 and slow.relative_error[lags < seen[0]].min() > 0.3
    plotting.plot_envelope(lags, np.exp(-lags / 100.0), ax=ax)
    assert len(ax.lines) == 3 and len(drawn(ax.lines[2])[0]) < lags.size
    assert ax.get_ylim()[0] < 1e-250


def test_labels_fit():
    """Nothing sticks out of the page, and no axis has more labels than are legible."""
    with plotting.style():
        lags = np.geomspace(1.0, 1e12, 40)
        for ax in (plotting.plot_envelope(lags, lags**-3.0), plotting.plot_density(lc.stationary_density(reference()))):
            ax.figure.draw_without_rendering()
            width, height = ax.figure.get_size_inches()
            box = ax.figure.get_tightbbox()
            assert box.x0 > -0.01 and box.y0 > -0.01 and box.x1 < width + 0.01 and box.y1 < height + 0.01
            assert 3 <= sum(bool(text.get_text()) for text in ax.get_yticklabels()) <= 11


def test_refusals(law):
    with pytest.raises(lc.ParameterError, match="must be a result of stationary_density"):
        plotting.plot_density(lc.Pareto(beta=0.8))
    with pytest.raises(lc.ParameterError, match="depth=1 must be between"):
        plotting.plot_density(law, depth=1)
    with pytest.raises(lc.ParameterError, match="seen no values"):
        plotting.plot_density(law, histogram=lc.Histogram([0.0, 1.0]))
    with pytest.raises(lc.ParameterError, match="no samples"):
        plotting.plot_density(law, histogram=[])
    with pytest.raises(lc.ParameterError, match="tables of one length"):
        plotting.plot_envelope([1.0, 2.0], [1.0])
    with pytest.raises(lc.ParameterError, match="no positive value"):
        plotting.plot_envelope([1.0, 2.0], [0.0, 0.0])
    with pytest.raises(lc.ParameterError, match="asymptote has shape"):
        plotting.plot_envelope([1.0, 2.0], [0.5, 0.4], asymptote=[0.5])
