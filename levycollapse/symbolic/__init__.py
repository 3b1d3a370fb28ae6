"""The theory in SymPy: from the Levy integral to the exponent, its expansions and the tail's constants (THEORY 2-6).

The expressions use the declared symbols of `levycollapse.symbolic.symbols`, which are also names of this
sub-package. Functions take ``alpha=`` because the symbol has its own form at alpha = 1; everything else is changed
with ``.subs``. SymPy is imported with this sub-package only.
"""

from . import symbols
from ._expansions import Expansion, near_threshold_series, small_exponent_series
from ._exponent import (
    Sensitivities,
    characteristic,
    critical_intensity,
    exponent_sensitivities,
    intensity_for_exponent,
    jump_threshold,
)
from ._generator import generator_on_exponential, moment_identity
from ._levy import (
    SymbolDerivation,
    cumulant,
    gaussian_symbol,
    jump_symbol,
    levy_density,
    stable_symbol,
    symbol_derivation,
    variance_gamma_symbol,
)
from ._output import latex, numeric
from ._prefactors import (
    LogarithmicConstants,
    logarithmic_constants,
    numerator_summand,
    prefactor_above_threshold,
    prefactor_at_threshold,
    prefactor_below_threshold,
    threshold_tail_series,
)
from ._tauber import tauberian_envelope, tauberian_factor
from .symbols import (
    C,
    D,
    Delta,
    M,
    N,
    alpha,
    beta,
    d,
    drift,
    eta_G,
    eta_J,
    eta_J_star,
    k,
    kappa,
    lag,
    lam,
    s,
    t,
    z,
    zeta,
)

__all__ = [
    "C",
    "D",
    "Delta",
    "Expansion",
    "LogarithmicConstants",
    "M",
    "N",
    "Sensitivities",
    "SymbolDerivation",
    "alpha",
    "beta",
    "characteristic",
    "critical_intensity",
    "cumulant",
    "d",
    "drift",
    "eta_G",
    "eta_J",
    "eta_J_star",
    "exponent_sensitivities",
    "gaussian_symbol",
    "generator_on_exponential",
    "intensity_for_exponent",
    "jump_symbol",
    "jump_threshold",
    "k",
    "kappa",
    "lag",
    "lam",
    "latex",
    "levy_density",
    "logarithmic_constants",
    "moment_identity",
    "near_threshold_series",
    "numerator_summand",
    "numeric",
    "prefactor_above_threshold",
    "prefactor_at_threshold",
    "prefactor_below_threshold",
    "s",
    "small_exponent_series",
    "stable_symbol",
    "symbol_derivation",
    "symbols",
    "t",
    "tauberian_envelope",
    "tauberian_factor",
    "threshold_tail_series",
    "variance_gamma_symbol",
    "z",
    "zeta",
]
