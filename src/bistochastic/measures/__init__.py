"""What was kept, gained and lost: measured on matrices, counts and arrays, never on frames."""
