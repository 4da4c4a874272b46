"""Calling a retriever directly with a question and what to hide from it."""
