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
# # Your own trained network
#
# From a trained recurrent network to its time scales $\tau_q$, its envelope $f(\ell)$, and what these say of its phase.
# First on a small gated network that is trained here for half a minute, on the task of arXiv:2606.29519 made short;
# then on two networks that other people trained for their own purposes. On the way: what the published estimator says
# of the same network, and why it says something else.
#
# It needs PyTorch: `pip install "levycollapse[networks]"`. Sources: arXiv:2606.29519; THEORY 1, 4, 6 of this package.

# %%
import textwrap

import numpy as np
import torch
from IPython.display import display

import levycollapse as lc
from levycollapse import networks, plotting, tails
from levycollapse.networks import UnitStatus, _examples
from levycollapse.training import DelayedRegression, train

torch.set_num_threads(1)


def show(text):
    for line in str(text).splitlines():
        print(textwrap.fill(line, 110, subsequent_indent="    "))


# %% [markdown]
# ## 1. A network to look at
#
# The target is a weighted sum of past inputs. With the published weights, which fall with the lag, little is asked of a
# long memory. The gates start equal, at $\tau = 1/0.1$ steps; a `ZetaRecorder` looks on while they move apart. It reads
# the same diagnostic sequences every time and changes no bit of the training.

# %%
task = DelayedRegression.truncated_pareto(input_size=2, count=8, low=2, high=64, trend="falling", noise=0.1)
print("lags", task.lags, " share of the signal", task.signal_share.round(2))


def sequences(number, length, seed):
    return torch.randn(number, length, task.input_size, generator=torch.Generator().manual_seed(seed))


net = networks.DiagGate(task.input_size, 128, s0=0.1, orthogonal=True)
recorder = networks.ZetaRecorder(net, sequences(8, 160, 1), every=40)
result = train(
    net, task, steps=480, batch_size=16, length=128, lr=1e-2, clip=1.0, seed=1, recorders=[recorder], progress=False
)
print(f"loss {result.loss[0]:.3f} -> {result.loss[-20:].mean():.3f}; no network can get below {result.best_loss:.3f}")
assert result.loss[-20:].mean() < 0.4 * result.loss[0]

# %%
history = recorder.panel()["tau"].isel(seed=0).mean("replicate")
with plotting.style():
    ax = plotting.new_axes()
    ax.plot(history["time"], history.T, color="C0", linewidth=0.4, alpha=0.4)
    ax.plot(history["time"], np.nanmedian(history, axis=0), color="C1", linewidth=1.5, label="median unit")
    ax.set(xlabel="training step", ylabel=r"time scale $\tau_q$ (network steps)", yscale="log")
    ax.legend(loc="lower left")
    display(ax.figure)

# %% [markdown]
# ## 2. Its time scales
#
# A unit's rate is $\mu_q = -\mathbb E\log|\partial h_{t}/\partial h_{t-1}|_{qq}$, on the exact diagonal of the
# Jacobian, and $\tau_q = 1/\mu_q$, $\zeta_q = \log\mu_q$. The mean of the logarithm needs no lags, so that fast units
# lose nothing. Every unit has an interval, from resampled sequences, and a status. A gate that is known beforehand is
# the check:

# %%
for step in (0.0001, 0.1, 0.95):
    known = networks.timescales(networks.ConstGate(2, 4, s0=step), sequences(2, 64, 2), kernel="gates")["tau"].values
    print(f"gate {step:<7g} tau {known[0]:.6g}, exact {-1 / np.log1p(-step):.6g}")
    assert np.allclose(known, -1 / np.log1p(-step), rtol=1e-4)

# %%
spectrum = networks.timescales(net, sequences(32, 512, 3), burn_in=64)
tau, status = spectrum["tau"].values, spectrum["status"].values
for kind in UnitStatus:
    print(f"{kind.name:14s} {np.sum(status == kind):4d} units")
print(
    "tau: fastest {:.2f}, quartiles {:.2f} {:.2f} {:.2f}, slowest {:.2f} steps".format(
        *np.quantile(tau, np.arange(5) / 4)
    )
)
width = np.sqrt(np.median(spectrum["tau_high"] / spectrum["tau_low"]))
print(f"95 % intervals reach from tau/{width:.3f} to tau*{width:.3f} (median unit)")

# %% [markdown]
# ## 3. Its envelope, and the verdict
#
# The envelope is measured on *other* sequences. The verdict puts the two together, with the finite-width prediction:
# the band in which networks of this many units with the fitted spectrum would lie.

# %%
lags = np.unique(np.geomspace(1, 200, 40).round().astype(int))
envelope = networks.envelope(net, sequences(32, 512, 4), lags, burn_in=64)
found = lc.verdict(spectrum, envelope, independent=True)
show(found)
assert found.shape.shape is not tails.Shape.POWER and found.phase is None

# %%
with plotting.style():
    axes = plotting.plot_verdict(found)
    display(axes[0].figure)

# %% [markdown]
# Left: the units, and the tail that the fit would give them, nearly vertical. Middle: the envelope ends like an
# exponential. Right: its local exponent grows with the lag, as an exponential's does, and stands still nowhere. This
# network has no power law to show. That it has *some* index is no evidence: any spectrum has a local one.
#
# ## 4. What the published estimator says of the same network
#
# `compat="reference"` computes what the published code does: the first-order expansion of the transport, in single
# precision, its logarithm floored at $\log 10^{-30} = -69$, and a straight line through lags 64 to 384.

# %%
published = networks.timescales(net, sequences(4, 512, 3), burn_in=64, compat="reference")
theirs = published["tau"].values
print("  exact tau    published tau")
for unit in np.argsort(tau)[[0, 1, 2, 3, 4, 5, 6, 7, 20, 64, 120, 127]]:
    print(
        f"{tau[unit]:11.3f}   " + ("rejected: it does not decay" if np.isnan(theirs[unit]) else f"{theirs[unit]:13.2f}")
    )
ours, reference = tails.fit_spectrum(tau), tails.fit_spectrum(theirs[theirs > 0], compat="reference")
fast = tau < 64 / 69.08
print(
    f"slowest unit: exact {tau.max():.1f}, published {np.nanmax(theirs):.0f} steps; rejected {np.isnan(theirs).sum()}"
)
print(f"index: local one of the exact spectrum {ours.beta.value:.2f}; published {reference.beta.value:.2f}")
assert fast.any() and np.all(np.isnan(theirs[fast]) | (theirs[fast] > 4 * tau[fast]))
assert np.nanmin(theirs) > 4

# %%
with plotting.style():
    ax = plotting.new_axes()
    ax.axvspan(tau.min() / 1.5, 64 / 69.08, color="0.85", zorder=0, linewidth=0)
    ax.axvspan(64 / 69.08, 384 / 69.08, color="0.93", zorder=0, linewidth=0)
    ends = np.array([tau.min() / 1.5, tau.max() * 1.5])
    ax.loglog(ends, ends, color="0.5", linewidth=0.8, label="equal")
    ax.loglog(tau, theirs, ".", color="C1", label="units")
    gone = np.isnan(theirs)
    top = 2 * np.nanmax(theirs)
    ax.loglog(tau[gone], np.full(gone.sum(), top), "^", color="C3", markersize=4, label="rejected as not decaying")
    ax.set(xlabel=r"exact $\tau_q$ (network steps)", ylabel=r"published $\tau_q$ (network steps)", xlim=ends)
    ax.legend(loc="upper right")
    display(ax.figure)

# %% [markdown]
# A unit with $\tau < 64/69 = 0.93$ (dark grey) is below the floor at every lag. Its line is flat, whatever is left of a
# slope is noise, and it is given an enormous $\tau$ or rejected. Up to $384/69 = 5.6$ (light grey) a part of the lags
# is floored and $\tau$ comes out too long. So the fastest units of a network become its slowest, and these few make the
# published index that of a broad power law. The envelope knows nothing of it, because it is not computed from $\tau$.
#
# ## 5. Two networks from the wild
#
# * the encoder of `g2p-en`, which spells English words into phonemes: a GRU of 256 units, here on words end to end;
# * the detector of `silero-vad`, which tells speech from silence: an LSTM of 128 units behind a convolution, here on
#   speech-like audio (one step is 32 ms).
#
# Their files are fetched from the package index and read without running anything in them. Offline, this part is
# skipped.

# %%
wild = {}
for name, make, skipped in (("g2p-en GRU", _examples.spelling_gru, 32), ("silero-vad LSTM", _examples.voice_lstm, 100)):
    try:
        (network, first), (_, second) = make(seed=0), make(seed=1)
    except _examples.Unavailable as error:
        print(f"{name}: skipped, {error}")
        continue
    lags = np.unique(np.geomspace(1, (first.shape[1] - skipped) // 2, 40).round().astype(int))
    spectrum = networks.timescales(network, first, burn_in=skipped)
    envelope = networks.envelope(network, second, lags, burn_in=skipped)
    wild[name] = spectrum, envelope, lc.verdict(spectrum, envelope, independent=True)
    show(f"--- {name}\n{wild[name][2]}\n")

# %%
for name, (_, _, result) in wild.items():
    with plotting.style():
        axes = plotting.plot_verdict(result)
        axes[0].figure.suptitle(name)
        display(axes[0].figure)

# %% [markdown]
# The measured envelope of the GRU lies above the band. That is no error: a $\tau_q$ is of the *typical* window,
# $\mathbb E\log$, the envelope of the *mean* window, which is larger where gates fluctuate. Rates of the mean window,
# `mu_mean`, account for it, and for half of what the LSTM has more:

# %%
for name, (units, measured, _) in wild.items():
    typical, mean = (1 / units[rate].values[units["mu"].values > 0] for rate in ("mu", "mu_mean"))
    print(name)
    for lag in (3, 30, 200):
        f = float(measured["f_mean"].interp(lag=lag))
        first, second = (float(lc.envelope(values[values > 0], lag)) for values in (typical, mean))
        print(f"  lag {lag:3d}: measured {f:.3f}, of typical windows {first:.3f}, of mean windows {second:.3f}")

# %% [markdown]
# ## What was found
#
# * The small network trained on the published task with its falling weights has a narrow spectrum: all of it within
#   a dozen steps or so, an envelope that ends as an exponential, no power law. The published estimator gives the same
#   network an index near 0.8, "broad", because it turns its fastest units into its slowest.
# * The GRU that spells forgets within words: a third of its units within a letter. Its spectrum is lighter than a
#   power law, and the local exponent of its envelope never stands still.
# * The LSTM that listens for voices has two kinds of units: half of them forget within a step of 32 ms, the slowest
#   hold for hundreds of steps, the length of a phrase and more. With 128 units, of which some are slower than half a
#   minute of audio can tell, the question of a power law stays open, and the verdict says so instead of choosing.
# * None of these three networks names its phase. A spectrum does not, and one network of a hundred units shows little
#   of the law that it was drawn from (notebook 04, section 4): train several, and give `verdict` a model to
#   contradict.
