"""The stationary law, and the way to it, by linear algebra instead of simulation (THEORY 8, NUMERICS D)."""
