"""`python -m scrubjay` is the same as `scrubjay`."""

import sys

from scrubjay.surfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
