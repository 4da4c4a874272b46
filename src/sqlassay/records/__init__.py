"""The nouns of one evaluation: plain frozen records that every other chapter passes around."""
