"""Comparing two relations: equality, pairing, row keys, shelves, shapes. Knows nothing about SQL or agents."""
