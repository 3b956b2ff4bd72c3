"""``python -m verify`` is the command line."""

from verify.cli import main

main(prog_name="verify")
