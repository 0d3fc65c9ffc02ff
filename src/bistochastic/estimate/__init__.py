"""The true distribution from the reported one, with its error: channels, counts and arrays only."""
