"""Carrying out a run: one trial, many trials, resuming."""
