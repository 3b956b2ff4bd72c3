"""Training data for next-token prediction: samples, orders, assumptions, generators."""
