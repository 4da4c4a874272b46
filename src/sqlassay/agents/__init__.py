"""Asking an agent and reading what it did: one file per kind, each turning a payload into a `Turn`."""
