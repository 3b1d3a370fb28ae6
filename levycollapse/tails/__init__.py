"""Exponents, shapes and regimes from samples of time scales and from envelopes."""

from ._cutoff import CutoffProfile as CutoffProfile
from ._law import FittedLaw as FittedLaw
from ._reference import ReferenceGate as ReferenceGate
from ._reference import ReferenceSpectrumFit as ReferenceSpectrumFit
from ._regime import Regime as Regime
from ._regime import RegimeResult as RegimeResult
from ._regime import regime as regime
from ._shape import Shape as Shape
from ._shape import TailShape as TailShape
from ._shape import tail_shape as tail_shape
from ._spectrum import LocalIndex as LocalIndex
from ._spectrum import SpectrumFit as SpectrumFit
from ._spectrum import SpectrumFitStatus as SpectrumFitStatus
from ._spectrum import fit_spectrum as fit_spectrum
from ._stable_index import StableIndex as StableIndex
from ._stable_index import StableIndexStatus as StableIndexStatus
from ._stable_index import stable_index as stable_index
from ._threshold import ThresholdFit as ThresholdFit
from ._units import UnitStatus as UnitStatus

__all__ = [
    "CutoffProfile",
    "FittedLaw",
    "LocalIndex",
    "ReferenceGate",
    "ReferenceSpectrumFit",
    "Regime",
    "RegimeResult",
    "Shape",
    "SpectrumFit",
    "SpectrumFitStatus",
    "StableIndex",
    "StableIndexStatus",
    "TailShape",
    "ThresholdFit",
    "UnitStatus",
    "fit_spectrum",
    "regime",
    "stable_index",
    "tail_shape",
]
