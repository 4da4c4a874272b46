"""Which cases are there, are they sound, and where do they come from? Loading, selecting, checking, importing."""

from sqlassay.datasets.base import Dataset
from sqlassay.datasets.native import load, loads

__all__ = ["Dataset", "load", "loads"]
