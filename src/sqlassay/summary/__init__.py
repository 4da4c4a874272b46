"""From measurements to means, intervals, slices and paired comparisons."""
