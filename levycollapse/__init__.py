"""Heavy-tailed learning dynamics of gated recurrent networks.

A neuron's log-decay rate follows d zeta = F(zeta) dt + sqrt(2 eta_G) dW + dJ, with a drift that saturates at kappa far
to the left and symmetric tempered alpha-stable jumps. This package computes what follows: the exponent of the
time-scale spectrum, its phase and its tail. Every name below is loaded when it is first used.

Examples
--------
>>> import levycollapse as lc
>>> model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
>>> model.phase
<Phase.CONCENTRATED: 1>
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from . import networks as networks
    from . import panels as panels
    from . import plotting as plotting
    from . import symbolic as symbolic
    from . import tails as tails
    from . import training as training
    from ._diagram import phase_diagram as phase_diagram
    from ._envelope.exponentials import ExponentialFit as ExponentialFit
    from ._envelope.finite_width import FiniteWidthEnvelope as FiniteWidthEnvelope
    from ._envelope.finite_width import LargestTimescale as LargestTimescale
    from ._envelope.finite_width import finite_width_envelope as finite_width_envelope
    from ._envelope.forward import envelope as envelope
    from ._envelope.inverse import Estimate as Estimate
    from ._envelope.inverse import InvertedSpectrum as InvertedSpectrum
    from ._envelope.inverse import SpectrumStatus as SpectrumStatus
    from ._envelope.inverse import invert_envelope as invert_envelope
    from ._envelope.slope import LocalExponent as LocalExponent
    from ._envelope.slope import SlopeStatus as SlopeStatus
    from ._envelope.slope import local_exponent as local_exponent
    from ._envelope.tauberian import TauberianEnvelope as TauberianEnvelope
    from ._envelope.tauberian import TauberianStatus as TauberianStatus
    from ._envelope.tauberian import tauberian_envelope as tauberian_envelope
    from ._laws.fit import FitStatus as FitStatus
    from ._laws.fit import TemperedStableFit as TemperedStableFit
    from ._laws.increment import IncrementLaw as IncrementLaw
    from ._laws.spectra import GammaRates as GammaRates
    from ._laws.spectra import GammaTimescales as GammaTimescales
    from ._laws.spectra import InverseGamma as InverseGamma
    from ._laws.spectra import LogNormal as LogNormal
    from ._laws.spectra import Pareto as Pareto
    from ._laws.spectra import Spectrum as Spectrum
    from ._laws.spectra import TemperedPareto as TemperedPareto
    from ._laws.spectra import TruncatedPareto as TruncatedPareto
    from ._laws.stable import SymmetricStable as SymmetricStable
    from ._laws.tempered_stable import TemperedStable as TemperedStable
    from ._learnability.averaging import concentration_exponent as concentration_exponent
    from ._learnability.averaging import concentration_rate as concentration_rate
    from ._learnability.averaging import oriented_null_samples as oriented_null_samples
    from ._learnability.averaging import stability_from_concentration as stability_from_concentration
    from ._learnability.averaging import stable_mean_abs as stable_mean_abs
    from ._learnability.averaging import stable_mean_scale as stable_mean_scale
    from ._learnability.bounds import bretagnolle_huber_error as bretagnolle_huber_error
    from ._learnability.bounds import bretagnolle_huber_samples as bretagnolle_huber_samples
    from ._learnability.bounds import detection_samples_bound as detection_samples_bound
    from ._learnability.bounds import fano_samples as fano_samples
    from ._learnability.bounds import local_fano_samples as local_fano_samples
    from ._learnability.bounds import mutual_information_bound as mutual_information_bound
    from ._learnability.closed_forms import EnvelopeLaw as EnvelopeLaw
    from ._learnability.closed_forms import ExponentialEnvelope as ExponentialEnvelope
    from ._learnability.closed_forms import LogarithmicEnvelope as LogarithmicEnvelope
    from ._learnability.closed_forms import PowerEnvelope as PowerEnvelope
    from ._learnability.closed_forms import TemperedEnvelope as TemperedEnvelope
    from ._learnability.detection import detection_threshold as detection_threshold
    from ._learnability.detection import sample_complexity as sample_complexity
    from ._learnability.divergence import stable_divergence as stable_divergence
    from ._learnability.divergence import stable_fisher_information as stable_fisher_information
    from ._learnability.model_window import LearnabilityWindow as LearnabilityWindow
    from ._learnability.model_window import WindowBand as WindowBand
    from ._learnability.model_window import learnability_window as learnability_window
    from ._learnability.noise import StableNoise as StableNoise
    from ._learnability.robust import estimator_variance as estimator_variance
    from ._learnability.robust import robust_gain as robust_gain
    from ._learnability.robust import robust_sample_complexity as robust_sample_complexity
    from ._learnability.status import WindowStatus as WindowStatus
    from ._model.collapse_model import CollapseModel as CollapseModel
    from ._model.drift import Drift as Drift
    from ._model.drift import LinearDrift as LinearDrift
    from ._model.drift import SaturatingDrift as SaturatingDrift
    from ._simulate.ensemble import simulate as simulate
    from ._simulate.observers import Histogram as Histogram
    from ._simulate.observers import Moments as Moments
    from ._simulate.observers import Observer as Observer
    from ._simulate.observers import TimescaleMoments as TimescaleMoments
    from ._simulate.record import observed as observed
    from ._stationary.density import DensityStatus as DensityStatus
    from ._stationary.density import StationaryDensity as StationaryDensity
    from ._stationary.evolution import DensityEvolution as DensityEvolution
    from ._stationary.evolution import evolve_density as evolve_density
    from ._stationary.solve import stationary_density as stationary_density
    from ._stationary.spectrum import Relaxation as Relaxation
    from ._stationary.spectrum import relaxation_time as relaxation_time
    from ._theory.expansions import near_threshold_exponent as near_threshold_exponent
    from ._theory.expansions import small_exponent as small_exponent
    from ._theory.exponent import ExponentResult as ExponentResult
    from ._theory.exponent import ExponentSensitivities as ExponentSensitivities
    from ._theory.exponent import ExponentStatus as ExponentStatus
    from ._theory.exponent import IntensityResult as IntensityResult
    from ._theory.exponent import IntensityStatus as IntensityStatus
    from ._theory.exponent import characteristic as characteristic
    from ._theory.exponent import critical_intensity as critical_intensity
    from ._theory.exponent import exponent_sensitivities as exponent_sensitivities
    from ._theory.exponent import intensity_for_exponent as intensity_for_exponent
    from ._theory.exponent import jump_threshold as jump_threshold
    from ._theory.exponent import solve_exponent as solve_exponent
    from ._theory.exponent import solve_intensity as solve_intensity
    from ._theory.exponent import spectral_exponent as spectral_exponent
    from ._theory.phase import Phase as Phase
    from ._theory.phase import phase as phase
    from ._theory.tail import TailForm as TailForm
    from ._theory.tail import TailLaw as TailLaw
    from ._theory.tail import tail_law as tail_law
    from ._verdict import ModelAgreement as ModelAgreement
    from ._verdict import Verdict as Verdict
    from ._verdict import verdict as verdict
    from .errors import AccuracyWarning as AccuracyWarning
    from .errors import CheckpointError as CheckpointError
    from .errors import ConvergenceError as ConvergenceError
    from .errors import NonFiniteStateError as NonFiniteStateError
    from .errors import ParameterError as ParameterError
    from .errors import SlowDriftWarning as SlowDriftWarning
    from .errors import StepSizeWarning as StepSizeWarning
    from .errors import TrainingError as TrainingError

__version__ = "0.1.0.dev0"

_HOME = {
    "_diagram": ["phase_diagram"],
    "_envelope.exponentials": ["ExponentialFit"],
    "_envelope.finite_width": ["FiniteWidthEnvelope", "LargestTimescale", "finite_width_envelope"],
    "_envelope.forward": ["envelope"],
    "_envelope.inverse": ["Estimate", "InvertedSpectrum", "SpectrumStatus", "invert_envelope"],
    "_envelope.slope": ["LocalExponent", "SlopeStatus", "local_exponent"],
    "_envelope.tauberian": ["TauberianEnvelope", "TauberianStatus", "tauberian_envelope"],
    "_laws.increment": ["IncrementLaw"],
    "_laws.spectra": [
        "GammaRates",
        "GammaTimescales",
        "InverseGamma",
        "LogNormal",
        "Pareto",
        "Spectrum",
        "TemperedPareto",
        "TruncatedPareto",
    ],
    "_laws.fit": ["FitStatus", "TemperedStableFit"],
    "_laws.stable": ["SymmetricStable"],
    "_laws.tempered_stable": ["TemperedStable"],
    "_learnability.averaging": [
        "concentration_exponent",
        "concentration_rate",
        "oriented_null_samples",
        "stability_from_concentration",
        "stable_mean_abs",
        "stable_mean_scale",
    ],
    "_learnability.bounds": [
        "bretagnolle_huber_error",
        "bretagnolle_huber_samples",
        "detection_samples_bound",
        "fano_samples",
        "local_fano_samples",
        "mutual_information_bound",
    ],
    "_learnability.closed_forms": [
        "EnvelopeLaw",
        "ExponentialEnvelope",
        "LogarithmicEnvelope",
        "PowerEnvelope",
        "TemperedEnvelope",
    ],
    "_learnability.detection": ["detection_threshold", "sample_complexity"],
    "_learnability.divergence": ["stable_divergence", "stable_fisher_information"],
    "_learnability.model_window": ["LearnabilityWindow", "WindowBand", "learnability_window"],
    "_learnability.noise": ["StableNoise"],
    "_learnability.robust": ["estimator_variance", "robust_gain", "robust_sample_complexity"],
    "_learnability.status": ["WindowStatus"],
    "_model.collapse_model": ["CollapseModel"],
    "_model.drift": ["Drift", "LinearDrift", "SaturatingDrift"],
    "_simulate.ensemble": ["simulate"],
    "_simulate.observers": ["Histogram", "Moments", "Observer", "TimescaleMoments"],
    "_simulate.record": ["observed"],
    "_stationary.density": ["DensityStatus", "StationaryDensity"],
    "_stationary.evolution": ["DensityEvolution", "evolve_density"],
    "_stationary.solve": ["stationary_density"],
    "_stationary.spectrum": ["Relaxation", "relaxation_time"],
    "_theory.expansions": ["near_threshold_exponent", "small_exponent"],
    "_theory.exponent": [
        "ExponentResult",
        "ExponentSensitivities",
        "ExponentStatus",
        "IntensityResult",
        "IntensityStatus",
        "characteristic",
        "critical_intensity",
        "exponent_sensitivities",
        "intensity_for_exponent",
        "jump_threshold",
        "solve_exponent",
        "solve_intensity",
        "spectral_exponent",
    ],
    "_theory.phase": ["Phase", "phase"],
    "_theory.tail": ["TailForm", "TailLaw", "tail_law"],
    "_verdict": ["ModelAgreement", "Verdict", "verdict"],
    "errors": [
        "AccuracyWarning",
        "CheckpointError",
        "ConvergenceError",
        "NonFiniteStateError",
        "ParameterError",
        "SlowDriftWarning",
        "StepSizeWarning",
        "TrainingError",
    ],
}
_SUBPACKAGES = ["panels", "plotting", "symbolic", "tails"]
#: Reached by name and not by `from levycollapse import *`, since they need torch, which not everybody has.
_OPTIONAL = ["networks", "training"]
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    *sorted(_MODULE_OF),
    *_SUBPACKAGES,
]


def __getattr__(name: str) -> _Any:
    if name in _MODULE_OF:
        value = getattr(_import_module(f".{_MODULE_OF[name]}", __name__), name)
    elif name in _SUBPACKAGES or name in _OPTIONAL:
        value = _import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_OPTIONAL, "__version__"])
