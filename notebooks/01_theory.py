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
# # From the jumps to the spectral exponent
#
# A unit with decay rate $\mu$ has time scale $\tau = 1/\mu$ and state $\zeta = \log\mu$. During training the state
# follows
#
# $$ d\zeta = F(\zeta)\,dt + \sqrt{2\eta_G}\,dW + dJ, $$
#
# where $F$ restores with a plateau $F(\zeta) \to \kappa > 0$ as $\zeta \to -\infty$ and $J$ is a symmetric tempered
# $\alpha$-stable process. Very negative $\zeta$ means a very long time scale, so the left tail of the stationary law
# of $\zeta$ is the long tail of the spectrum of time scales.
#
# This notebook derives the exponent $\beta$ of that tail, $p(\tau) \sim C\,\tau^{-1-\beta}$, with
# `levycollapse.symbolic`, and checks every step against a number that was obtained in another way.
#
# Sources: L. Livi, arXiv:2606.29519, for the model, the threshold and the phases; J. Rosiński, *Stoch. Proc. Appl.*
# 117 (2007) 677, for the jumps.

# %%
import matplotlib.pyplot as plt
import mpmath as mp
import numpy as np
import sympy as sp
from IPython.display import Math, display

import levycollapse as lc
from levycollapse import symbolic
from levycollapse.symbolic import alpha, beta, eta_G, eta_J, k, kappa, lam, s, zeta


def show(left, right):
    """Display left = right."""
    display(Math(rf"{left} = {symbolic.latex(right)}"))


def close(a, b, rtol=1e-12):
    """Both are equal to a relative tolerance."""
    return np.allclose(np.asarray(a, dtype=complex), np.asarray(b, dtype=complex), rtol=rtol, atol=0.0)


model = {"kappa": 1.0, "eta_G": 0.1, "eta_J": 0.62, "alpha": 1.5, "lam": 3.0}
noise_free = {name: model[name] for name in ("kappa", "eta_G", "alpha", "lam")}

# %% [markdown]
# ## 1. The generator on exponentials
#
# For a smooth function $f$ the generator is
#
# $$ (\mathcal A f)(\zeta) = F f' + \eta_G f''
#    + \int_0^\infty \big[f(\zeta+z) + f(\zeta-z) - 2 f(\zeta)\big]\,\nu(z)\,dz . $$
#
# On $f = e^{-s\zeta}$ each term gives a multiple of $f$:

# %%
show(r"\nu(z)", symbolic.levy_density())
show(r"\mathcal A\, e^{-s\zeta}", symbolic.generator_on_exponential())

# %% [markdown]
# In the stationary law the mean of $\mathcal A f$ is zero. This holds for every drift. Written with the distance of
# the drift from its plateau it is the identity that all exact tests of this package use:

# %%
display(Math(rf"\mathbb E\left[{symbolic.latex(symbolic.moment_identity())}\right] = 0"))
assert sp.simplify(symbolic.generator_on_exponential() - symbolic.moment_identity()) == 0

# %% [markdown]
# One case is solvable by hand. Without jumps and with $F = -\kappa\tanh\zeta$ the density is
# $\cosh(\zeta)^{-\kappa/\eta_G}$ up to a constant; the identity must hold there, at any $s$ below $\kappa/\eta_G$.

# %%
gaussian_case = {kappa: 1, eta_G: sp.Rational(2, 5), eta_J: 0, alpha: sp.Rational(3, 2), s: sp.Rational(4, 5)}
summand = symbolic.moment_identity(-kappa * sp.tanh(zeta)).subs(gaussian_case)
density = sp.cosh(zeta) ** (-kappa / eta_G).subs(gaussian_case)
mean = mp.quad(symbolic.numeric(summand * density, backend="mpmath"), [-60, -20, -5, 0, 5, 20, 60])
scale = mp.quad(symbolic.numeric(abs(summand) * density, backend="mpmath"), [-60, -20, -5, 0, 5, 20, 60])
print(f"mean / mean of the absolute value: {float(mean / scale):.1e}")
assert abs(mean / scale) < 1e-12

# %% [markdown]
# ## 2. The jump symbol
#
# The jumps enter through $\psi(s) = \int (\cosh(sz) - 1)\,\nu(z)\,dz$. Integrate over $z > 0$ with the power of $z$
# replaced by $z^{w-1}$, where every exponential can be integrated by itself:

# %%
steps = symbolic.symbol_derivation()
show(r"\int_0^\infty " + symbolic.latex(steps.regularised) + r"\,dz", steps.transform)

# %% [markdown]
# The left side is analytic for $\mathrm{Re}\,w > -2$, because $e^{sz} + e^{-sz} - 2 = O(z^2)$. The right side is its
# continuation, and $w = -\alpha$ gives the symbol. At $\alpha = 1$ the pole of $\Gamma$ meets a zero of the bracket:

# %%
show(r"\psi(s)", steps.symbol)
show(r"\psi(s)\big|_{\alpha=1}", steps.at_one)

# %% [markdown]
# Checks: direct quadrature of the Levy integral, and the compiled symbol, at five indices.

# %%
for index in (0.3, 0.6, 1.0, 1.4, 1.8):
    psi = symbolic.numeric(symbolic.jump_symbol(alpha=index), [s, eta_J, lam], "mpmath")
    p = 1 / (2 - mp.mpf(index))  # z = y**p makes the integrand smooth at 0

    def integrand(y, p=p, index=index):
        return 4 * mp.sinh(y**p) ** 2 * (y**p) ** (-1 - index) * mp.exp(-3 * y**p) * p * y ** (p - 1)

    quadrature = mp.quad(integrand, [0] + [mp.mpf(x) ** (1 / p) for x in (0.01, 0.3, 2, 10, 60)])
    compiled = lc.TemperedStable(alpha=index, lam=3.0, intensity=1.0).symbol(2.0)
    print(f"alpha = {index}:  psi(2) = {float(psi(2, 1, 3)):.12f}   quadrature {float(quadrature):.12f}")
    assert close(psi(2, 1, 3), quadrature, 1e-10) and close(psi(2, 1, 3), compiled)

# %% [markdown]
# Its limits. For $\alpha \to 0$ it is the variance-gamma symbol. For $\alpha \to 2$ it diverges at fixed $\eta_J$,
# but with $\eta_J = D/\Gamma(2-\alpha)$ it becomes Gaussian noise that adds $D$ to $\eta_G$. For $\lambda \to 0$ only
# the imaginary axis is left, and there it is the stable exponent $-\sigma^\alpha k^\alpha$.

# %%
show(r"\lim_{\alpha \to 0} \psi(s)", symbolic.variance_gamma_symbol())
show(r"\lim_{\alpha \to 2} \psi(s)", symbolic.gaussian_symbol())
show(r"\lim_{\lambda \to 0} \psi(ik)", symbolic.stable_symbol())
show(r"\lim_{\lambda \to 0} \psi(ik)\big|_{\alpha=1}", symbolic.stable_symbol(alpha=1))

stable = lc.TemperedStable.from_stable_scale(alpha=1.4, lam=0.0, sigma=1.6)
exponent = symbolic.numeric(symbolic.stable_symbol(), [k, eta_J, alpha])(2.0, stable.intensity, 1.4)
assert close(exponent, -((1.6 * 2.0) ** 1.4))

# %% [markdown]
# The cumulants of $J_t$ of every even order follow; the odd ones are zero.

# %%
n = sp.Symbol("n", integer=True, positive=True)
show(r"\mathrm{cum}_{2n}(J_t)", symbolic.cumulant(2 * n, symbolic.t))
for order in (2, 4, 6, 8):
    derivative = sp.diff(symbolic.jump_symbol(), s, order).subs(s, 0)
    assert sp.gammasimp(derivative / symbolic.cumulant(order)).equals(1)
    law = lc.TemperedStable(alpha=1.5, lam=3.0, intensity=0.62)
    value = symbolic.numeric(symbolic.cumulant(order), [eta_J, alpha, lam])(0.62, 1.5, 3.0)
    assert close(value, law.cumulant(order))

# %% [markdown]
# ## 3. The characteristic equation
#
# Far to the left $F = \kappa$. A stationary density $\rho \sim e^{\beta\zeta}$ there must satisfy $\Phi(\beta) = 0$.

# %%
show(r"\Phi(\beta)", symbolic.characteristic())
phi = symbolic.numeric(symbolic.characteristic())
points = np.array([0.2, 1.0, 2.9])
assert close(phi(points, **model), lc.characteristic(beta=points, **model))

# %% [markdown]
# $\Phi$ is convex, $\Phi(0) = 0$ and $\Phi'(0) = -\kappa < 0$. There is at most one positive root, and there is one in
# $(0, \lambda]$ exactly when $\Phi(\lambda) \ge 0$.

# %%
assert sp.diff(symbolic.characteristic(), beta).subs(beta, 0).simplify() == -kappa
root = lc.spectral_exponent(**model)
print(f"beta = {root:.12f},  Phi(beta) = {phi(root, **model):.1e}")
assert abs(phi(root, **model)) < 1e-13

# %% [markdown]
# ## 4. The threshold, and what is below it
#
# $\Phi(\lambda) = 0$, solved for the intensity:

# %%
show(r"\eta_J^\ast", symbolic.jump_threshold())
show(r"\eta_J^\ast\big|_{\alpha=1}", symbolic.jump_threshold(alpha=1))
threshold = symbolic.numeric(symbolic.jump_threshold())(**noise_free)
assert close(threshold, lc.jump_threshold(**noise_free))
edge = symbolic.characteristic(lam).subs(eta_J, symbolic.intensity_for_exponent(lam))
assert sp.simplify(edge) == 0

# %% [markdown]
# Two remarks, which the phase names do not show.
#
# * **Below threshold the tail is still a power.** The paper calls $\eta_J \le \eta_J^\ast$ collapsed, with a light
#   tail. In the model itself the spectrum there is $p(\tau) \sim A\,\tau^{-1-\lambda}(\log\tau)^{-1-\alpha}$: a power
#   with the index $\lambda$ that the tempering sets, and a logarithmic correction. Forcing below threshold cannot make
#   anything heavier than its own jumps. A truly exponential envelope needs $\lambda \to \infty$ and $\eta_G = 0$, or a
#   drift that confines, or a finite width.
# * **Without jumps the tail is a power too.** With $\eta_J = 0$ and $\eta_G > 0$ it is driven by the Gaussian noise
#   alone, $\beta = \kappa/\eta_G$. The root formula gives this when $\kappa/\eta_G \le \lambda$, but $\lambda$ plays no
#   role in it.

# %%
below = lc.tail_law(**{**model, "eta_J": 0.5 * threshold})
print(f"half the threshold: index {below.rate}, power of the logarithm {below.log_power}")
assert below.rate == model["lam"] and below.log_power == -1 - model["alpha"]
assert np.isnan(lc.spectral_exponent(**{**model, "eta_J": 0.5 * threshold}))

(gaussian_root,) = sp.solve(symbolic.characteristic().subs(eta_J, 0), beta)
show(r"\beta\big|_{\eta_J=0}", gaussian_root)
assert gaussian_root == kappa / eta_G
assert close(lc.spectral_exponent(**{**model, "eta_J": 0.0}), model["kappa"] / model["eta_G"])

# %% [markdown]
# ## 5. The critical manifold and inverse design
#
# $\Phi(b) = 0$ is linear in the intensity. The intensity that produces a wanted exponent $b \in (0, \lambda]$,
# $b < \kappa/\eta_G$, is therefore a closed form. $b = \lambda$ gives the threshold. $b = 1$ gives the critical
# manifold, on which the mean time scale begins to diverge; it exists for $\lambda > 1$ and $\kappa > \eta_G$.

# %%
show(r"\eta_J(\beta)", symbolic.intensity_for_exponent())
show(r"\eta_J(1)", symbolic.critical_intensity())
assert symbolic.critical_intensity() == symbolic.intensity_for_exponent(1)

wanted = np.array([0.3, 0.8, 1.0, 2.0, 2.9])
design = symbolic.numeric(symbolic.intensity_for_exponent())(wanted, **noise_free)
assert close(design, lc.intensity_for_exponent(beta=wanted, **noise_free))
assert close(lc.spectral_exponent(**{**model, "eta_J": design}), wanted)
critical = symbolic.numeric(symbolic.critical_intensity())(**noise_free)
assert close(critical, lc.critical_intensity(**noise_free))
print(f"threshold {threshold:.6f}, critical {critical:.6f}")

# %% [markdown]
# ## 6. Sensitivities
#
# Implicit differentiation gives $d\beta/d\theta = -(\partial\Phi/\partial\theta)/\Phi'(\beta)$ for each parameter.

# %%
slopes = symbolic.exponent_sensitivities()
for name, symbol in zip(slopes._fields, (kappa, eta_G, eta_J, alpha, lam), strict=True):
    show(rf"\frac{{d\beta}}{{d{symbolic.latex(symbol)}}}", getattr(slopes, name))

# %% [markdown]
# They agree with the compiled ones and with central differences of the root. More noise of either kind, and a weaker
# drift, make the tail heavier. Two scalings of the problem (of time and of $\zeta$) tie the five together.

# %%
values = {}
for name, expr in slopes._asdict().items():
    function = symbolic.numeric(expr, [beta, kappa, eta_G, eta_J, alpha, lam])
    values[name] = function(root, **model)
    step = 1e-5
    up, down = ({**model, name: model[name] + sign * step} for sign in (1, -1))
    difference = (lc.spectral_exponent(**up) - lc.spectral_exponent(**down)) / (2 * step)
    print(f"d beta/d {name:6} = {values[name]: .9f}   central difference {difference: .9f}")
    assert close(values[name], getattr(lc.exponent_sensitivities(**model), name), 1e-11)
    assert close(values[name], difference, 1e-7)

of_time = sum(model[name] * values[name] for name in ("kappa", "eta_G", "eta_J"))
of_zeta = sum(
    weight * model[name] * values[name]
    for name, weight in {"kappa": 1, "eta_G": 2, "eta_J": model["alpha"], "lam": -1}.items()
)
assert abs(of_time) < 1e-12 and close(of_zeta, -root)

# %% [markdown]
# ## 7. Just above threshold
#
# Let $d = \lambda - \beta$ and $\Delta = \Phi(\lambda) = (\eta_J - \eta_J^\ast)\,c(\lambda)$ with $c = \psi/\eta_J$.
# Expanding the analytic part of $\Phi(\lambda - d)$ turns $\Phi(\beta) = 0$ into
#
# $$ \Delta = P d - \eta_J\Gamma(-\alpha)\, d^\alpha - q_2 d^2 - q_3 d^3 - \dots $$
#
# and, at $\alpha = 1$, into $\Delta = \eta_J\, d \log(B/d) - q_2 d^2 - \dots$. The power $d^\alpha$ is not an integer
# one, so there are two small quantities, $u$ and $d_0$. An expansion of order $n$ keeps $d_0 u^i d_0^j$ with
# $i + j < n$. Its coefficients come from Lagrange's theorem, at any order.
#
# For $\alpha > 1$ the linear term dominates:


# %%
def show_expansion(name, expansion):
    show(name, expansion.series)
    for symbol, value in expansion.where.items():
        show(symbolic.latex(symbol), value)


show_expansion("d", symbolic.near_threshold_series(3, regime="alpha > 1"))

# %% [markdown]
# For $\alpha < 1$ the fractional power dominates:

# %%
show_expansion("d", symbolic.near_threshold_series(3, regime="alpha < 1"))

# %% [markdown]
# At $\alpha = 1$ the leading term is a Lambert $W$. Powers of $1/\log$ are kept exactly, and the order counts $d_0$
# only:

# %%
show_expansion("d", symbolic.near_threshold_series(3, alpha=1))

# %% [markdown]
# How good are they? The relative error of $d$ at a distance $\eta_J/\eta_J^\ast - 1$ from threshold, against the
# compiled root, which knows $d$ to full relative accuracy. On logarithmic axes the slope is the order of the error:
# $n(1-\alpha)/\alpha$ below $\alpha = 1$, $n$ at it (up to a logarithm) and $n(\alpha-1)$ above it. The floor is the
# rounding of $\Delta$, which double precision knows to about $10^{-16}$ over the distance.

# %%
above = np.logspace(-4, -1, 13)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for axis, index, slope_of in zip(
    axes, (0.6, 1.0, 1.4), (lambda a: (1 - a) / a, lambda a: 1, lambda a: a - 1), strict=True
):
    start = lc.jump_threshold(kappa=0.8, eta_G=0.15, alpha=index, lam=2.0)
    arguments = {"kappa": 0.8, "eta_G": 0.15, "eta_J": start * (1 + above), "lam": 2.0}
    gap = lc.solve_exponent(alpha=index, **arguments).gap
    for order in (1, 2, 3, 4):
        explicit = symbolic.near_threshold_series(order, alpha=index).explicit()
        series = symbolic.numeric(explicit, [kappa, eta_G, eta_J, lam])(**arguments)
        error = np.abs(series / gap - 1)
        axis.loglog(above, error, label=f"order {order}")
        measured = np.log(error[6] / error[2]) / np.log(above[6] / above[2])
        print(f"alpha = {index}, order {order}: error {error[4]:.1e} at 1e-3, slope {measured:.2f}")
        # Higher orders reach the rounding of Delta within the range at alpha = 1.
        assert order > 2 or abs(measured / (order * slope_of(index)) - 1) < 0.3
    axis.set(title=rf"$\alpha$ = {index}", xlabel=r"$\eta_J/\eta_J^\ast - 1$")
axes[0].set_ylabel(r"relative error of $d$")
axes[0].legend()
plt.show()

# %% [markdown]
# ## 8. Far below the tempering
#
# For $\beta \ll \lambda$ the cumulants of the jumps are a power series of $\Phi(\beta)/\beta$, and its reversion gives
# $\beta$ in odd powers of $\kappa$. To leading order only the total variance of the noise matters, for every $\alpha$:
# $\beta \approx \kappa/D$.

# %%
show_expansion(r"\beta", symbolic.small_exponent_series(4))

# %% [markdown]
# The error of order $n$ falls like $\kappa^{2n+1}$.

# %%
for index in (0.6, 1.0, 1.4):
    for order in (1, 2, 3):
        explicit = symbolic.small_exponent_series(order, alpha=index).explicit()
        function = symbolic.numeric(explicit, [kappa, eta_G, eta_J, lam])
        error = []
        for strength in (0.2, 0.1):
            arguments = {"kappa": strength, "eta_G": 0.15, "eta_J": 0.9, "lam": 2.0}
            error.append(abs(function(**arguments) - lc.spectral_exponent(alpha=index, **arguments)))
        measured = np.log2(error[0] / error[1])
        print(f"alpha = {index}, order {order}: error {error[1]:.1e} at kappa = 0.1, measured order {measured:.2f}")
        assert abs(measured - (2 * order + 1)) < 0.2

# %% [markdown]
# As formulas for a computer the closed forms above lose digits where terms cancel ($s \ll \lambda$, $\alpha$ near 1).
# `lc.spectral_exponent` and its companions do not, and are what the rest of the package uses.
