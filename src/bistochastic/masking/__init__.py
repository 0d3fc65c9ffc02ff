"""A matrix meets a column: codes are randomised, numbers moved or averaged, records grouped."""
