"""The commands for a table of one's own: `fit`, `predict` and `show`.

Heavy imports live inside the functions, so that `--help` answers at once.
"""
