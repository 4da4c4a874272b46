"""Reading SQL without running it: parse, resolve every name, take apart, decide whether it may run."""
