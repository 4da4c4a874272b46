"""Rules that the user wrote, and whether a run keeps them."""
