"""Data: standardising tables (`Scaling`), and the paper's example sets.

Named benchmark sets are read from the folder in `GOODPRIOR_DATA` (`load`).
"""

from goodprior.data.registry import Dataset, data_folder, load
from goodprior.data.scaling import Scaling
from goodprior.data.splits import hold_out

__all__ = ["Dataset", "Scaling", "data_folder", "hold_out", "load"]
