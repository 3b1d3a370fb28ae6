"""Monte Carlo: ensembles of paths."""
