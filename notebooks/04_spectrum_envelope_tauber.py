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
# # Spectrum, envelope, Tauber
#
# The envelope $f(\ell) = \mathbb E\,e^{-\ell/\tau}$ is what a network shows of its time scales; the spectrum $p(\tau)$
# is what the theory is about. This notebook goes from one to the other: forwards exactly, to long lags by Karamata's
# theorem with its next order, down to networks of finite width, and backwards from a noisy envelope, with what that
# inversion can and cannot tell.
#
# Sources: Bingham, Goldie & Teugels, *Regular Variation*, 1.7; J. G. McWhirter and E. R. Pike, *J. Phys. A* 11 (1978)
# 1729; THEORY 6 and NUMERICS B.7, C.7 of this package.

# %%
import numpy as np
from IPython.display import display

import levycollapse as lc
from levycollapse import plotting, symbolic

# %% [markdown]
# ## 1. Forwards
#
# Parametric spectra have their envelopes in closed or special-function form. Time scales that are given one by one are
# summed exactly. Two checks: a gamma law of rates has $f = (1 + \ell/r)^{-b}$, and the Mellin transform of any envelope
# is $\Gamma(s)\,\mathbb E\,\tau^s$.

# %%
spectra = {
    "Pareto, 0.8": lc.Pareto(beta=0.8),
    "truncated at 3000": lc.TruncatedPareto(beta=0.8, tau_min=1.0, tau_max=3000.0),
    "log-normal, sd 2": lc.LogNormal(log_median=1.0, sd=2.0),
    "gamma, shape 2": lc.GammaTimescales(shape=2.0, scale=20.0),
}
lags = np.geomspace(1.0, 1e6, 121)
rates = lc.GammaRates(shape=0.8, rate=2.0)
assert np.allclose(rates.envelope(lags), (1 + lags / 2.0) ** -0.8, rtol=1e-14, atol=0.0)

x = np.linspace(-60.0, 60.0, 601)
for name, spectrum in spectra.items():
    mellin = np.sum(np.exp(0.5 * x) * spectrum.envelope(np.exp(x))) * (x[1] - x[0])
    assert abs(mellin / (np.sqrt(np.pi) * spectrum.moment(0.5)) - 1) < 1e-6, name

tau = spectra["Pareto, 0.8"].rvs(200_000, rng=1)
sampled = lc.envelope(tau, lags)
truth = spectra["Pareto, 0.8"].envelope(lags)
error = np.sqrt((spectra["Pareto, 0.8"].envelope(2 * lags) - truth**2) / tau.size)
print("samples against the law, in standard errors:", ((sampled - truth) / error)[::20].round(1))
assert np.abs((sampled - truth) / error)[lags < 1e4].max() < 4

# %%
with plotting.style():
    ax = plotting.new_axes()
    for name, spectrum in spectra.items():
        plotting.plot_envelope(lags, spectrum.envelope(lags), ax=ax, label=name)
    ax.set_ylim(1e-8, 2)
    ax.legend(loc="lower left")
    display(ax.figure)

# %% [markdown]
# On a plot like this a log-normal passes for a power law over decades. The local exponent
# $b(\ell) = -d\log f/d\log\ell$ tells them apart: only a power law has one that stands still.

# %%
with plotting.style():
    ax = plotting.new_axes()
    for name, spectrum in spectra.items():
        ax.semilogx(lags, lc.local_exponent(lags, spectrum).exponent, label=name)
    ax.set(xlabel=r"lag $\ell$ (network steps)", ylabel="local exponent", xlim=(1, 1e6), ylim=(0, 3))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    display(ax.figure)

# %% [markdown]
# ## 2. Karamata and the next order
#
# A tail $p(\tau) \sim C\,\tau^{-1-r}(\log\tau)^p$ gives $f(\ell) \sim C\,\Gamma(r)\,\ell^{-r}(\log\ell)^p$, times

# %%
display(symbolic.tauberian_factor(symbolic.lam, -1 - symbolic.alpha, order=3))

# %% [markdown]
# For the transform of a given tail the next order matters: here the tail is *exactly*
# $\tau^{-4}(\log\tau)^{-5/2}$ beyond $\tau = e$, as mass on a fine grid.

# %%
y = np.linspace(1.0, 60.0, 400_001)
mass = np.exp(-3.0 * y) * y**-2.5 * (y[1] - y[0])
tail = lc.TailLaw(3.0, -2.5, 0.0, 1.0, form=lc.TailForm.TEMPERED)
long = np.array([1e3, 1e4, 1e6])
exact = np.array([np.sum(mass * np.exp(-lag * np.exp(-y))) for lag in long])
found = lc.tauberian_envelope(tail, long)
for row in zip(long, found.leading / exact - 1, found.envelope / exact - 1, found.relative_error, strict=True):
    print("lag {:7.0e}: leading {:+.4f}, next order {:+.5f}, its own estimate {:.5f}".format(*row))
assert np.all(np.abs(found.envelope / exact - 1) < found.relative_error)
assert np.all(np.abs(found.envelope / exact - 1) < 0.02 * np.abs(found.leading / exact - 1))

# %% [markdown]
# ## 3. From which lag does it hold?
#
# In the model the tail itself is reached late where it has logarithms (notebook 03), and no order of the Tauberian
# expansion repairs that. `holds_from` with the law says from which lag the asymptote may be used; without the law it
# judges the transform alone, which is necessary and not sufficient.

# %%
frame = {"kappa": 0.5, "eta_G": 0.1, "lam": 1.5}
edge = float(lc.jump_threshold(alpha=0.7, **frame))
models = {
    "broad": lc.CollapseModel.from_parameters(**frame, eta_J=0.6, alpha=1.5),
    "concentrated": lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0),
    "threshold": lc.CollapseModel.from_parameters(**frame, eta_J=edge, alpha=0.7),
    "collapsed": lc.CollapseModel.from_parameters(**frame, eta_J=0.1, alpha=1.3),
}
laws = {name: lc.stationary_density(model) for name, model in models.items()}
decades = np.array([1e2, 1e4, 1e8])
holds = {}
print(f"{'':13s} rate     f over its asymptote at 1e2, 1e4, 1e8     holds to 10 % and to 1 % from lag")
for name, law in laws.items():
    asymptote = lc.tauberian_envelope(law.tail, decades)
    ratio = law.envelope(decades) / asymptote.envelope
    holds[name] = [asymptote.holds_from(accuracy, law) for accuracy in (0.1, 0.01)]
    print(
        f"{name:13s} {law.tail.rate:.4f}  "
        + "".join(f"{value:12.5f}" for value in ratio)
        + "".join(f"{value:15.2g}" for value in holds[name])
    )
assert max(holds["broad"]) < 1e3 and max(holds["concentrated"]) < 1e3
assert min(holds["threshold"] + holds["collapsed"]) > 1e20

# %%
lags = np.geomspace(1.0, 1e8, 161)
with plotting.style():
    ax = plotting.new_axes()
    for name in ("broad", "concentrated", "collapsed"):
        asymptote = lc.tauberian_envelope(laws[name].tail, lags)
        plotting.plot_envelope(lags, laws[name].envelope(lags), ax=ax, asymptote=asymptote, label=name)
    ax.legend(loc="lower left")
    display(ax.figure)

# %% [markdown]
# Above threshold the power law holds to 1 % from lag 20 on. In the collapsed phase and at threshold no network will
# ever see the leading law to 10 %. What it sees over a few decades is a local exponent that drifts down to
# $\lambda = 1.5$ from above:

# %%
for name in ("threshold", "collapsed"):
    print(f"{name:10s}", lc.local_exponent(decades, laws[name]).exponent.round(3))
drifting = lc.local_exponent(decades, laws["collapsed"]).exponent
assert np.all(np.diff(drifting) < 0) and drifting[-1] > 1.5

# %% [markdown]
# ## 4. How wide must a network be?
#
# $H$ units give $f_H(\ell) = \frac1H\sum_q e^{-\ell/\tau_q}$. Its mean is $f$; its standard deviation reaches $f$ at
# the crossover lag, and beyond it one network says nothing about $f$: its slowest unit decides, and the envelope is
# exponential whatever the phase.

# %%
law, width = laws["concentrated"], 256
lags = np.geomspace(1.0, 3e3, 41)
bands = lc.finite_width_envelope(law, lags, width, n_networks=300, rng=3)
with plotting.style():
    ax = plotting.plot_envelope(lags, bands.mean, label="mean, all widths")
    ax.fill_between(lags, bands.quantiles[0], bands.quantiles[4], color="C0", alpha=0.2, linewidth=0)
    ax.fill_between(lags, bands.quantiles[1], bands.quantiles[3], color="C0", alpha=0.3, linewidth=0)
    ax.plot(lags, bands.quantiles[2], color="C1", label=f"median network, H = {width}")
    ax.axvline(bands.crossover_lag, color="0.5", linestyle=":")
    ax.set_ylim(1e-8, 2)
    ax.legend(loc="lower left")
    display(ax.figure)
late = lags > 5 * bands.crossover_lag
print(f"crossover lag {bands.crossover_lag:.0f}, median largest time scale {bands.largest.median:.0f}")
print("median network over the mean beyond five crossovers:", (bands.quantiles[2] / bands.mean)[late][:3])
assert np.all((bands.quantiles[2] / bands.mean)[late] < 0.1)

# %% [markdown]
# The question of an experimenter: how wide must a network be so that its envelope shows the power law up to a given
# lag, that is, with a standard deviation of 10 % of $f$ there? The variance is $(f(2\ell) - f(\ell)^2)/H$, so that is
# closed form. The width grows like $\ell^\beta$: the *heavier* the tail, the cheaper.


# %%
def needed_width(law, lag, accuracy=0.1):
    f, twice = law.envelope([lag, 2 * lag])
    return (twice / f**2 - 1) / accuracy**2


print(f"{'beta':>6s}" + "".join(f"   lag {lag:>8g}" for lag in (1e2, 1e3, 1e4)))
widths = {}
for name in ("broad", "concentrated"):
    widths[name] = [needed_width(laws[name], lag) for lag in (1e2, 1e3, 1e4)]
    print(f"{models[name].beta:6.3f}" + "".join(f"   {value:12.0f}" for value in widths[name]))
    growth = np.log10(widths[name][2] / widths[name][1])
    assert abs(growth / models[name].beta - 1) < 0.05

check = int(np.ceil(widths["broad"][1]))
zeta = laws["broad"].rvs((200, check), rng=4)
networks = np.exp(-1e3 * np.exp(zeta)).mean(axis=1)
spread = np.std(networks, ddof=1) / laws["broad"].envelope(1e3)
print(f"200 networks of width {check}: standard deviation {spread:.3f} of f at lag 1000 (0.1 asked for)")
assert abs(spread / 0.1 - 1) < 0.25

# %% [markdown]
# ## 5. Backwards
#
# From 128 lags with 1 % noise. The regularised spectrum is one of many that fit; the tail index comes from a profile
# likelihood instead, with its interval.

# %%
lags = np.geomspace(1.0, 1e4, 128)


def noisy(spectrum, seed):
    noise = 1 + 0.01 * np.random.default_rng(seed).standard_normal(lags.size)
    return np.asarray(spectrum.envelope(lags)) * noise


cases = {
    "Pareto, beta 0.8": lc.Pareto(beta=0.8),
    f"model, beta {models['broad'].beta:.3f}": laws["broad"],
    "exponential, tau 50": lc.TruncatedPareto(beta=1.0, tau_min=49.99, tau_max=50.01),
    "log-normal, sd 2": spectra["log-normal, sd 2"],
}
results = {}
for name, spectrum in cases.items():
    results[name] = found = lc.invert_envelope(lags, noisy(spectrum, 7), sigma=0.01)
    terms = found.exponentials.timescales.size
    print(
        f"{name:22s} {found.status.value:28s} beta {found.beta.value:.4f} "
        f"[{found.beta.lower:.4f}, {found.beta.upper:.4f}]   {terms} exponentials suffice"
    )
pareto, exponential = results["Pareto, beta 0.8"], results["exponential, tau 50"]
assert pareto.status is lc.SpectrumStatus.POWER_TAIL and abs(pareto.beta.value / 0.8 - 1) < 0.02
assert exponential.status is lc.SpectrumStatus.DISCRETE and exponential.timescales.size == 1
assert abs(exponential.timescales[0] / 50.0 - 1) < 0.01
assert results["log-normal, sd 2"].status is lc.SpectrumStatus.NO_TAIL

# %%
with plotting.style():
    ax = plotting.new_axes()
    for name, color in (("Pareto, beta 0.8", "C0"), ("log-normal, sd 2", "C1")):
        found, spectrum = results[name], cases[name]
        step = np.gradient(np.log(found.timescales))
        ax.loglog(found.timescales, found.weights / step, color=color, label=name)
        inside = found.timescales > spectrum.support[0]
        ax.loglog(
            found.timescales[inside], (found.timescales * spectrum.pdf(found.timescales))[inside], "--", color=color
        )
    ax.axvspan(*found.resolved, color="0.93", zorder=0)
    ax.set(xlabel=r"time scale $\tau$ (network steps)", ylabel=r"$\tau\,p(\tau)$", ylim=(1e-6, 3))
    ax.legend(loc="lower center")
    display(ax.figure)

# %% [markdown]
# Solid: recovered; dashed: true; grey: what the lags can see. The resolution limit says how close two spikes may be
# before they merge, whatever the method:

# %%
print(f"at 1 % noise two spikes closer than a factor {np.exp(pareto.resolution):.1f} in tau cannot be told apart")
assert pareto.resolution > 0

# %% [markdown]
# ## 6. What is not called a power law, and what that costs
#
# A spectrum that does not end inside the lags has *some* local index. Two that are no power laws: a log-normal of
# standard deviation 4, whose moments are all finite, and a tail of the collapsed phase, whose index is $\lambda = 1.5$
# and whose logarithm looks like a larger one. Over a single decade both pass for power laws in half of the cases and
# more; so a tail counts only where it is seen over a factor of 50 of lags. The price: a true power law that starts late
# does not.


# %%
class Tempered:
    """The tail tau**(-2.5) (log tau)**(-2.5) of the collapsed phase, from tau = e on."""

    y = np.linspace(1.0, 40.0, 20_001)
    mass = np.exp(-1.5 * y) * y**-2.5

    def envelope(self, lags):
        kernel = np.exp(-np.multiply.outer(np.asarray(lags), np.exp(-self.y)))
        return kernel @ (self.mass / self.mass.sum())


for name, spectrum in (
    ("log-normal, sd 4", lc.LogNormal(log_median=1.0, sd=4.0)),
    ("collapsed tail", Tempered()),
    ("Pareto, 0.8, from tau = 1000", lc.Pareto(beta=0.8, tau_min=1000.0)),
):
    found = [lc.invert_envelope(lags, noisy(spectrum, seed), sigma=0.01) for seed in range(6)]
    called = sum(result.status is lc.SpectrumStatus.POWER_TAIL for result in found)
    print(f"{name:28s} called a power law in {called} of {len(found)}")
    assert called == 0

# %% [markdown]
# The status POWER_TAIL says that the lags hold no evidence against a power law from some time scale on. Look at the
# local exponents beside it: neither of the first two stands still. A plateau speaks for a power law, a status alone
# does not.

# %%
with plotting.style():
    ax = plotting.new_axes()
    for name, spectrum in (
        ("Pareto, 0.8", lc.Pareto(beta=0.8)),
        ("log-normal, sd 4", lc.LogNormal(log_median=1.0, sd=4.0)),
        ("collapsed tail, 1.5", Tempered()),
    ):
        slope = lc.local_exponent(lags, noisy(spectrum, 1), sigma=0.01)
        (line,) = ax.semilogx(lags, slope.exponent, label=name)
        ax.fill_between(lags, slope.lower, slope.upper, color=line.get_color(), alpha=0.25, linewidth=0)
    ax.set(xlabel=r"lag $\ell$ (network steps)", ylabel="local exponent", xlim=(1, 1e4), ylim=(0, 3))
    ax.legend(loc="upper right")
    display(ax.figure)
