"""Measure whether a text-to-SQL agent is right, where it is wrong and why."""

__version__ = "0.1.0"
