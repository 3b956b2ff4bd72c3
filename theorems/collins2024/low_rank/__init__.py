"""Tasks that depend on few directions, and what attention learns from them."""
