"""Parametric time-scale spectra p(tau), with their envelopes in closed or special-function form (THEORY 6)."""

from .base import Spectrum as Spectrum
from .gamma import GammaRates as GammaRates
from .gamma import GammaTimescales as GammaTimescales
from .gamma import InverseGamma as InverseGamma
from .lognormal import LogNormal as LogNormal
from .pareto import Pareto as Pareto
from .pareto import TemperedPareto as TemperedPareto
from .pareto import TruncatedPareto as TruncatedPareto
