"""Optional model judges whose opinions are recorded."""
