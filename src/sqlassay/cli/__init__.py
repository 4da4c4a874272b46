"""The command line: one file per command, one place that catches errors."""
