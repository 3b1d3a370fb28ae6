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
# # Three ways to one density
#
# The stationary law of $\zeta = -\log\tau$ can be reached in three ways that share almost nothing: formulas for its
# tail, linear algebra for all of it (twice: a Fourier method and a Markov chain), and simulated paths. A number is
# believed here when two of them agree. This notebook holds them against each other, looks at the true tail in every
# phase, and then lets the law form in time.
#
# Sources: L. Livi, arXiv:2606.29519, for the model and its phases; THEORY 4, 5 and 8 and NUMERICS C.4, C.5 of this
# package for the methods.

# %%
import numpy as np
from IPython.display import display

import levycollapse as lc
from levycollapse import plotting, symbolic

parameters = {"kappa": 1.0, "eta_G": 0.1, "eta_J": 0.62, "alpha": 1.5, "lam": 3.0}
model = lc.CollapseModel.from_parameters(**parameters)
model

# %% [markdown]
# ## 1. One model
#
# The formula knows the exponent only. The Fourier method gives the whole law with about twelve digits, the chain with
# three or four, and the simulation with as many as its paths allow.

# %%
fourier = lc.stationary_density(model)
chain = lc.stationary_density(model, method="chain")
histogram = lc.Histogram(np.linspace(-16.0, 16.0, 257), after=20.0, every=5)
paths = lc.simulate(
    model, n_paths=40_000, t_end=60.0, dt=0.1, scheme="strang", observe=histogram, store_every=100, rng=1
)
print(fourier)
print(chain)
print(f"simulation: {histogram.count:,} values, dependent along each of {paths.sizes['path']:,} paths")

# %%
with plotting.style():
    ax = plotting.plot_density(fourier, histogram=histogram, label="Fourier")
    nodes = np.linspace(-16.0, 16.0, 33)
    ax.plot(nodes, chain.pdf(nodes), ".", markersize=3, label="chain")
    ax.set(xlim=(-18, 18), ylim=(1e-10, 2))
    ax.legend()
    display(ax.figure)

# %% [markdown]
# Moments of the time scale, $M(s) = \mathbb E[\tau^s]$. Paths are independent, times along a path are not: the standard
# error is that of the means over single paths. On samples, powers above $\beta/2$ have no variance.

# %%
late = paths["zeta"].sel(time=slice(20.0, None)).values
for s in (-0.6, 0.25, 0.5, 0.65):
    exact, discrete = fourier.timescale_moment(s), chain.timescale_moment(s)
    means = np.exp(-s * late).mean(axis=1)
    error = means.std(ddof=1) / np.sqrt(means.size)
    score = (means.mean() - exact) / error
    print(
        f"M({s:+.2f}):  Fourier {exact:.10f}   chain {discrete:.6f}   "
        f"paths {means.mean():.4f} +- {error:.4f} ({score:+.1f} standard errors)"
    )
    assert abs(discrete / exact - 1) < 2e-3
    assert abs(score) < 4

# %% [markdown]
# The exponent: the formula's root against the slope of both densities where they are nothing but tail, and against the
# tail of the simulation. The simulated one is crude; a tail seen over two decades of probability does not give more.

# %%
ends = np.array([-25.0, -15.0])
print(f"formula  {model.beta:.12f}")
for name, law, accuracy in (("Fourier", fourier, 1e-9), ("chain", chain, 2e-3)):
    slope = np.diff(np.log(law.pdf(ends)))[0] / 10.0
    print(f"{name:8s} {slope:.12f}")
    assert abs(slope / model.beta - 1) < accuracy
last = late[:, -1]
beyond = np.array([(last < -3.0).sum(), (last < -1.5).sum()])
rough = np.log(beyond[1] / beyond[0]) / 1.5
print(f"paths    {rough:.2f} from {beyond[1]} and {beyond[0]} paths below -1.5 and -3")
assert abs(rough - model.beta) < 4 / np.sqrt(beyond[0]) / 1.5 + 0.05

# %% [markdown]
# And the constant $C$ of $p(\tau) \sim C\,\tau^{-1-\beta}$: the residue of $M(s)$ at its pole, whose numerator
# $N(\beta)$ is a mean over the law, taken here by a sum that has nothing to do with the solver's own.

# %%
display(symbolic.prefactor_above_threshold())
grid = np.linspace(-40.0, 40.0, 8001)
weights = fourier.pdf(grid) * (grid[1] - grid[0])
numerator = float(weights @ (model.beta * model.drift.deficit(grid) * np.exp(-model.beta * grid)))
constant = symbolic.numeric(symbolic.prefactor_above_threshold())(model.beta, **parameters, N=numerator)
for name, value in (("residue", constant), ("Fourier", fourier.tail.prefactor), ("chain", chain.tail.prefactor)):
    print(f"{name:8s} C = {value:.12f}")
far = fourier.pdf(-60.0) * np.exp(60.0 * model.beta)
print(f"density at -60, over exp(-60 beta):  {far:.12f}")
assert abs(constant / fourier.tail.prefactor - 1) < 1e-9 and abs(far / constant - 1) < 1e-9
assert abs(chain.tail.prefactor / constant - 1) < 1e-3

# %% [markdown]
# ## 2. Identities that every drift obeys
#
# $\mathbb E[(\eta_G s^2 + \psi(s) - sF)\,e^{-s\zeta}] = 0$ between the two exponents. Nothing in the solver imposes it.
# It is shown relative to the mean size of its summand.

# %%
drifts = {
    "symmetric": lc.SaturatingDrift(1.0),
    "other plateau": lc.SaturatingDrift(1.0, center=0.5, kappa_right=0.6),
    "double well": lc.Drift.from_callable(lambda z: np.tanh(z) * (1 - 2 * np.tanh(z) ** 2), left=1.0, right=1.0),
}
line = np.linspace(-150.0, 150.0, 30_001)
for name, drift in drifts.items():
    other = lc.CollapseModel(drift, 0.3, lc.TemperedStable(1.3, 1.5, 0.45))
    density = lc.stationary_density(other).pdf(line)
    residuals = []
    for s in (-0.4, -0.2, 0.3, 0.6):
        generator = other.eta_G * s**2 + other.jumps.symbol(abs(s))
        summand = (generator - s * other.drift(line)) * np.exp(-s * line) * density
        residuals.append(summand.sum() / np.abs(summand).sum())
    print(f"{name:14s} beta {other.beta:.4f}  residuals", " ".join(f"{value:+.0e}" for value in residuals))
    assert np.abs(residuals).max() < 1e-9

# %% [markdown]
# ## 3. The true tail in each phase
#
# `stationary_density` carries the leading law of the tail with its constant, and also the tail itself: the pole and the
# branch cut of $M(s)$ give one formula for all phases, however far out. How good is the leading law? The table has
# $\rho$ over it.

# %%
frame = {"kappa": 0.5, "eta_G": 0.1, "lam": 1.5}
start = {index: float(lc.jump_threshold(alpha=index, **frame)) for index in (0.7, 1.3)}
phases = {
    "concentrated": {"alpha": 1.3, "eta_J": 1.05 * start[1.3]},
    "critical": {"alpha": 1.3, "eta_J": float(lc.critical_intensity(alpha=1.3, **frame))},
    "broad": {"alpha": 1.3, "eta_J": 2.5},
    "threshold": {"alpha": 0.7, "eta_J": start[0.7]},
    "collapsed": {"alpha": 1.3, "eta_J": 0.5 * start[1.3]},
}
places = np.array([-10.0, -30.0, -100.0, -300.0])
laws = {}
print(f"{'':13s} rate    log power  constant   " + "".join(f"{place:10g}" for place in places))
for name, changed in phases.items():
    laws[name] = law = lc.stationary_density(lc.CollapseModel.from_parameters(**frame, **changed))
    leading = law.tail.prefactor * np.exp(law.tail.rate * places) * np.abs(places) ** law.tail.log_power
    ratio = law.pdf(places) / leading
    print(
        f"{name:13s} {law.tail.rate:.4f}  {law.tail.log_power:+.1f}       {law.tail.prefactor:8.5f}   "
        + "".join(f"{value:10.5f}" for value in ratio)
    )
    if law.tail.log_power == 0:
        assert abs(ratio[-1] - 1) < 1e-6
    else:
        assert np.all(np.diff(np.abs(ratio - 1)) < 0) and 0.005 < abs(ratio[-1] - 1) < 0.2

# %% [markdown]
# Above threshold a pure power holds soon, but later the closer the pole at $\beta$ is to the branch point at $\lambda$:
# the first line is 5 % above threshold. At and below threshold the leading law is still some 10 % off at
# $\zeta = -100$, where the density is $10^{-65}$, because the next term is smaller by a power of
# $|\zeta| = \log\tau$ only. "Collapsed" does not mean a light tail: the spectrum is a power of index $\lambda$ with a
# logarithm.

# %%
with plotting.style():
    ax = plotting.new_axes()
    for name in ("broad", "critical", "collapsed"):
        plotting.plot_density(laws[name], ax=ax, depth=1e-25, label=name)
    ax.set_xlim(-70, 30)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    display(ax.figure)

# %% [markdown]
# At threshold the series of NUMERICS C.4 improves it, term by term:

# %%
at = laws["threshold"]
edge = {**frame, **phases["threshold"]}
n_of_lambda = at.tail.prefactor / float(
    symbolic.numeric(symbolic.prefactor_at_threshold(alpha=0.7), [symbolic.eta_J, symbolic.N])(edge["eta_J"], 1.0)
)
errors = []
for order in (1, 2, 3):
    series = symbolic.threshold_tail_series(order, alpha=0.7).explicit()
    order_of = [symbolic.zeta, symbolic.kappa, symbolic.eta_G, symbolic.eta_J, symbolic.lam, symbolic.N]
    known = [edge[name] for name in ("kappa", "eta_G", "eta_J", "lam")]
    values = symbolic.numeric(series, order_of)(places, *known, n_of_lambda)
    errors.append(values / at.pdf(places) - 1)
    print(f"{order} terms, relative error:", " ".join(f"{error:+.5f}" for error in errors[-1]))
assert abs(errors[1][2]) < 0.1 * abs(errors[0][2]) and abs(errors[2][3]) < 0.5 * abs(errors[1][3])

# %% [markdown]
# Without tempering the law is $\rho \sim D\,|\zeta|^{-\alpha}$ for $\alpha > 1$. Only the chain reaches it; the
# constant needs no density at all.

# %%
untempered = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.3, alpha=1.2, lam=0.0)
law = lc.stationary_density(untempered)
D, D2 = (symbolic.numeric(c)(kappa=1.0, eta_J=0.3, alpha=1.2) for c in symbolic.logarithmic_constants())
for x in (1e3, 1e6, 1e9):
    one, two = D * x**-1.2, D * x**-1.2 + D2 * x**-1.4
    print(f"zeta = -{x:.0e}:  chain over leading law {law.pdf(-x) / one:.4f}, over two terms {law.pdf(-x) / two:.4f}")
assert abs(law.pdf(-1e9) / two - 1) < 0.01 < abs(law.pdf(-1e9) / one - 1)

# %% [markdown]
# ## 4. How a spectrum forms
#
# A network starts with short time scales, here all equal, $\tau = e^{-1}$. `evolve_density` solves for the law at later
# times; the simulation must agree with it.

# %%
broad = lc.CollapseModel.from_parameters(kappa=0.5, eta_G=0.1, eta_J=0.6, alpha=1.5, lam=1.5)
times = [3.0, 10.0, 30.0, 100.0]
formed = lc.evolve_density(broad, initial=1.0, times=times, rtol=1e-5)
run = lc.simulate(broad, 20_000, 10.0, 0.05, scheme="strang", initial=1.0, store_every=20, rng=2)
for time in (3.0, 10.0):
    index = times.index(time)
    state = run["zeta"].sel(time=time, method="nearest").values
    for name, function in (("cos", np.cos), ("tanh", np.tanh)):
        exact, values = float(formed.expectation(function)[index]), function(state)
        score = (values.mean() - exact) / (values.std() / np.sqrt(values.size))
        print(f"t = {time:4g}: E {name:4s} = {exact:+.5f}, paths {values.mean():+.5f}, {score:+.1f} standard errors")
        assert abs(score) < 4

# %% [markdown]
# What a network would show is its envelope, $f(\ell) = \mathbb E\,e^{-\ell/\tau}$, and the local exponent
# $-d\log f/d\log\ell$. As training proceeds it falls towards $\beta$, first at short lags.

# %%
lags = np.geomspace(1.0, 1e5, 101)
f = np.vstack([formed.envelope(lags), lc.stationary_density(broad).envelope(lags)])
slopes = -np.gradient(np.log(f), np.log(lags), axis=1, edge_order=2)
with plotting.style():
    ax = plotting.new_axes()
    for time, slope in zip(times, slopes, strict=False):
        ax.semilogx(lags, slope, label=f"t = {time:g}")
    ax.semilogx(lags, slopes[-1], color="black", label=r"$t \to \infty$")
    ax.axhline(broad.beta, color="0.5", linestyle=":")
    ax.text(1.3, broad.beta + 0.02, r"$\beta$", color="0.4")
    ax.set(xlabel=r"lag $\ell$ (network steps)", ylabel="local exponent", xlim=(1, 1e5), ylim=(0, 2))
    ax.legend()
    display(ax.figure)
middle = np.searchsorted(lags, 300.0)
print(f"beta = {broad.beta:.4f}; local exponent at lag {lags[middle]:.0f}:", slopes[:, middle].round(4))
assert np.all(np.diff(slopes[:, middle]) < 0)
assert abs(slopes[-2, middle] / broad.beta - 1) < 0.02 and abs(slopes[-1, middle] / broad.beta - 1) < 0.01

# %% [markdown]
# How long does that take? `relaxation_time` gives the rate at which two starts forget their difference: the edge of the
# essential spectrum, $-\min\Phi$, or a discrete level below it. Starting far outside adds $|\zeta_0|/\kappa$.

# %%
gaussian = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.2, eta_J=0.0, alpha=1.5, lam=3.0)
found = lc.relaxation_time(gaussian)
one, other = (lc.evolve_density(gaussian, place, [6.0, 8.0]).expectation(np.tanh) for place in (-0.5, 0.5))
measured = np.log((other - one)[0] / (other - one)[1]) / 2.0
print(f"no jumps: level {found.levels[0]:.4f} (exact 0.8), edges {found.edge_left:.4f}; seen in time {measured:.4f}")
assert abs(found.rate / 0.8 - 1) < 3e-3 and abs(measured / 0.8 - 1) < 1e-2

slow = lc.relaxation_time(broad)
print(f"broad model: relaxation time {slow.time:.2f}, from the edge (levels below it: {slow.levels.size})")
assert slow.rate == slow.edge_left

# %% [markdown]
# At an edge there is no single exponential. The difference of two starts decays like $t^{-3/2}e^{-t/T}$, so that it
# looks faster than $1/T$ for as long as it can be seen:

# %%
when = np.array([20.0, 40.0, 80.0])
one, other = (lc.evolve_density(broad, place, when, rtol=1e-7).expectation(np.tanh) for place in (-0.5, 0.5))
seen = -np.diff(np.log(other - one)) / np.diff(when)
corrected = seen - 1.5 * np.diff(np.log(when)) / np.diff(when)
print("rate seen between", when, ":", seen.round(4))
print("with the power of t taken off:", corrected.round(4), f" (edge {slow.rate:.4f})")
assert np.all(np.diff(seen) < 0) and np.all(seen > slow.rate)
assert abs(corrected[-1] / slow.rate - 1) < 0.1
