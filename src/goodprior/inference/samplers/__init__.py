"""Samplers: one file each, one contract (`base`)."""
