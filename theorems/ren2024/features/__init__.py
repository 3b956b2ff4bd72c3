"""Feature maps of the softmax kernel: what they estimate, and how well."""
