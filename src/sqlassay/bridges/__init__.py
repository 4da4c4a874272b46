"""Other people's frameworks, one file each."""
