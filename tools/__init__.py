"""Programs for developers: they build what the package ships and the docs show."""
