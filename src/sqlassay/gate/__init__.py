"""Deciding, apart from describing: rules that the user wrote, and one verdict with its reasons."""
