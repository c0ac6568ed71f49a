"""Simulator backend server: one core for every simulated world."""

__version__ = "0.1.0"
