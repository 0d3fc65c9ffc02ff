"""A matrix meets a column: records are grouped, so that each group is one block of a matrix."""
