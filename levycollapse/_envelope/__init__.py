"""From a time-scale spectrum to its envelope f(l) = E exp(-l/tau), and back (THEORY 6)."""
