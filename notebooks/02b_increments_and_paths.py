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
# # Increments and paths
#
# A step of the simulator adds a drift and a random increment. The increment's law is known exactly through its
# cumulant function, whatever the time step; this notebook looks at that law, draws from it in three ways, runs an
# ensemble, and checks the result against an identity that holds for every drift.

# %%
import numpy as np
from IPython.display import display

import levycollapse as lc
from levycollapse import plotting

model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)

# %% [markdown]
# ## The law of a step
#
# Density and tail come from contour integrals with small *relative* error, so the far tail is as good as the centre.

# %%
x = np.linspace(0.0, 8.0, 400)
with plotting.style():
    ax = plotting.new_axes()
    for dt in (0.01, 0.1, 1.0):
        ax.semilogy(x, model.increment(dt).pdf(x), label=f"dt = {dt:g}")
    ax.set(xlabel=r"increment $x$", ylabel="density")
    ax.legend()
    display(ax.figure)

# %%
law = model.increment(0.01)
far = law.isf(1e-25)
print(f"P(X > {far:.4f}) = {law.sf(far):.16e}")
assert abs(law.sf(far) / 1e-25 - 1) < 1e-9

# %% [markdown]
# ## Three ways to draw
#
# A table of quantiles (fast, its error measured when it is built), exact rejection (alpha < 1), and Gaussian small
# jumps with a compound Poisson part (approximate, with a bound on its error).

# %%
heavy = lc.TemperedStable(alpha=0.7, lam=3.0, intensity=0.62).increment(0.1)
quantile = heavy.isf(0.01)
for method in ("table", "rejection", "small-jumps"):
    sampler = heavy.sampler(method)
    share = np.mean(sampler.rvs(200_000, rng=7) > quantile)
    print(f"{method:12s} error {sampler.error:.1e}   P(X > q) = {share:.5f} (0.01)")
    assert abs(share - 0.01) < 5 * np.sqrt(0.01 / 200_000)

# %% [markdown]
# ## An ensemble
#
# Random numbers are a function of (seed, path, step): the same bits on one thread or two, in one piece or in many.

# %%
result = lc.simulate(model, n_paths=20_000, t_end=20.0, dt=0.1, scheme="strang", store_every=2, rng=1)
half = lc.simulate(model, n_paths=20_000, t_end=10.0, dt=0.1, scheme="strang", rng=1)
rest = lc.simulate(model, n_paths=20_000, t_end=20.0, dt=0.1, scheme="strang", continue_from=half)
assert np.array_equal(rest["zeta"][:, -1], result["zeta"][:, -1])

# %%
with plotting.style():
    ax = plotting.plot_paths(result)
    display(ax.figure)
    ax = plotting.plot_distribution(result)
    display(ax.figure)

# %% [markdown]
# ## Is it right?
#
# In the stationary law the mean of (Phi(s) + s (kappa - F)) exp(-s zeta) is zero for every s in the strip, whatever the
# drift. On samples the variance is finite only in the inner half of the strip.

# %%
zeta = result["zeta"].sel(time=slice(10.0, None)).values[:, ::10].ravel()
for s in (-0.5, -0.2, 0.2, 0.5):
    force = model.drift(zeta)
    phi = lc.characteristic(s, kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    summand = (phi + s * (1.0 - force)) * np.exp(-s * zeta)
    score = summand.mean() / (summand.std() / np.sqrt(summand.size / 3))  # times 1 apart: some three for one
    print(f"s = {s:+.1f}: mean {summand.mean():+.5f}, {score:+.2f} standard errors")
    assert abs(score) < 5
