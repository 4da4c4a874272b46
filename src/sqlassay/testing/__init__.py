"""Public conformance suites, builders and strategies for people who extend sqlassay."""
