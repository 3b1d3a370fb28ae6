"""Probability laws: their symbols, densities and cumulants."""
