"""The law of one time step."""
