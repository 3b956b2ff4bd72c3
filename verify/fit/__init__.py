"""Estimates from trained runs: intervals over seeds, and trends decided by them."""
