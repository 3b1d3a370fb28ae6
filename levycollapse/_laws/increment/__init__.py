"""The law of one time step: density, tail, quantiles and draws."""

from .law import IncrementLaw
from .samplers import Sampler
from .table import QuantileTable

__all__ = ["IncrementLaw", "QuantileTable", "Sampler"]
