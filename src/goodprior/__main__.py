"""`python -m goodprior` is the `goodprior` command."""

from goodprior.cli import main

main()
