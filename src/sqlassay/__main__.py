"""`python -m sqlassay`."""

from sqlassay.cli import main

if __name__ == "__main__":
    main()
