"""Training of the models in `packages/scrubjay-models`, reproducible on one GPU."""
