"""One frozen report model and its renderings."""
