"""`sqlassay view`: the pages of a runs folder on this machine, and what people say about the verdicts."""
