"""A run is a folder: append-only, resumable, readable for ever."""
