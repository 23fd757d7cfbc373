"""`python -m scrubjay.models.process FOLDER NAME` is the model process; scrubjay starts it."""

import sys

from scrubjay.models.process.place import Place
from scrubjay.models.process.server import serve

if __name__ == "__main__":
    sys.exit(serve(Place(*sys.argv[1:3])))
