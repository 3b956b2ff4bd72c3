"""The claims of the papers, one module per theorem. Never part of the wheel."""
