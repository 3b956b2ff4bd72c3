"""Section 4 and Theorem H.5: which directions attention looks at."""
