"""Quality on public test sets: `python -m evals`, or `make eval`."""
