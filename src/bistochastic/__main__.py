"""`python -m bistochastic`."""

from bistochastic.cli import main

main(prog_name="bistochastic")
