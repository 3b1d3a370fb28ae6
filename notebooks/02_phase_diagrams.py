# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Phase diagrams
#
# Which forcing keeps a network's time scales apart, and which lets them collapse? This notebook maps the answer over
# the model's five parameters, and reads three things off the maps: where the exponent sets in, where the mean time
# scale begins to diverge, and what "collapsed" does and does not mean.

# %%
import numpy as np
from IPython.display import display

import levycollapse as lc
from levycollapse import plotting

fixed = {"kappa": 1.0, "eta_G": 0.1, "lam": 3.0}

# %% [markdown]
# ## Intensity against stability index
#
# Parameters given as arrays become the axes; the result is a labelled dataset with the exponent, the phase, and the two
# boundary curves.

# %%
diagram = lc.phase_diagram(**fixed, eta_J=np.geomspace(0.01, 20, 300), alpha=np.linspace(0.05, 1.95, 300))
diagram

# %%
with plotting.style():
    ax = plotting.plot_phase_diagram(diagram)
    display(ax.figure)

# %% [markdown]
# Below the solid curve the characteristic equation has no root. Above it the root `beta` falls as the jumps grow: first
# through the concentrated phase (finite mean time scale), then across the dashed critical manifold into the broad one.
#
# The boundary curves are closed forms, so that they can be checked on the spot.

# %%
alpha = diagram["alpha"].values
threshold, critical = diagram["threshold"].values, diagram["critical"].values
assert np.array_equal(threshold, lc.jump_threshold(1.0, 0.1, alpha, 3.0))
assert np.allclose(lc.spectral_exponent(1.0, 0.1, critical, alpha, 3.0), 1.0, rtol=1e-13)
assert np.all(lc.phase(1.0, 0.1, critical, alpha, 3.0) == lc.Phase.CRITICAL)

# %% [markdown]
# ## What collapsed means
#
# Below threshold the exponent does not exist, but the spectrum still has a power tail, of index `lam` with a
# logarithmic factor: jumps that are too weak cannot make anything heavier than their own tempering, and neither do they
# make it light. The map of the *tail index* has no hole.

# %%
tails = lc.phase_diagram(
    **fixed, eta_J=np.geomspace(0.01, 20, 200), alpha=np.linspace(0.05, 1.95, 200), quantity="tail_rate"
)
with plotting.style():
    ax = plotting.plot_phase_diagram(tails)
    display(ax.figure)
assert float(tails["tail_rate"].max()) == 3.0
weak = lc.tail_law(kappa=1.0, eta_G=0.1, eta_J=0.1, alpha=1.5, lam=3.0)
print(weak)

# %% [markdown]
# A truly light tail needs more than weak jumps: `lam` to infinity *and* no Gaussian noise, or a drift that confines, or
# a finite width. With Gaussian noise alone the tail is again a power, `kappa/eta_G`.

# %%
print(lc.spectral_exponent(kappa=1.0, eta_G=0.1, eta_J=0.0, alpha=1.5, lam=3.0))

# %% [markdown]
# ## Any two parameters
#
# Over tempering and stability index the threshold is not a function of either: for `alpha` < 1 a given intensity is
# above threshold for weak tempering, below it for intermediate, and above again for strong tempering. The dataset then
# holds two branches of the curve.

# %%
folded = lc.phase_diagram(
    kappa=1.0, eta_G=0.05, eta_J=0.3, alpha=np.linspace(0.05, 1.95, 200), lam=np.geomspace(0.1, 30, 200)
)
with plotting.style():
    ax = plotting.plot_phase_diagram(folded)
    display(ax.figure)
folded["threshold"].sel(alpha=0.3, method="nearest").values

# %% [markdown]
# ## How near a boundary?
#
# A map says which phase; the sensitivities say how easily it is left. Here is the change of `beta` for one per cent of
# each parameter, at the reference model.

# %%
model = {**fixed, "eta_J": 0.62, "alpha": 1.5}
slopes = lc.exponent_sensitivities(**model)
for name in slopes._fields:
    print(f"{name:6s} {0.01 * model[name] * getattr(slopes, name):+.5f}")

# %% [markdown]
# Doubling the plateau and both intensities together changes only the unit of time, so those three add up to zero.

# %%
total = sum(model[name] * getattr(slopes, name) for name in ("kappa", "eta_G", "eta_J"))
assert abs(total) < 1e-12

# %% [markdown]
# ## Design
#
# The other way round: which intensity produces a wanted exponent? It is a closed form, and says no where none does.

# %%
for beta in (0.5, 1.0, 2.5, 4.0):
    found = lc.solve_intensity(beta=beta, **fixed, alpha=1.5)
    print(f"beta {beta}: eta_J = {found.eta_J:.6f}  {found.status.name}")
