"""The commands of `goodprior`, one file each.

Heavy imports are inside the functions, so that `--help` answers at once.
"""
