"""Exponent, phase and tail of a model: numbers in, numbers out."""
