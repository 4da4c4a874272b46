"""Loading cases from files, in our own formats and in those of public benchmarks."""
