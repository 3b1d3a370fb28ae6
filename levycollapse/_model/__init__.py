"""The model: a drift, Gaussian noise and jumps."""
