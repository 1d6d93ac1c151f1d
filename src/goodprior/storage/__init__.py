"""Storage: model files and checkpoints that are safe to open.

A file is a `.safetensors` file: arrays, and a description of how they make up the thing (`tree`),
sealed by a SHA-256 over every byte (`file_format`). Nothing in it is ever executed: classes and
functions are looked up by name in a list (`known`, to which `register` adds). `fingerprint` says
whether two things are the same.
"""

from goodprior.storage.file_format import replace_file, replacing_file
from goodprior.storage.fingerprint import fingerprint
from goodprior.storage.known import register
from goodprior.storage.store import read, write

__all__ = ["fingerprint", "read", "register", "replace_file", "replacing_file", "write"]
