"""From cases to a run: means with their n, intervals, slices, repeats, and two runs paired by case."""
