"""Turning one trial into readings: a family per file, each answering one question about one part of the system."""
