"""The true distribution behind a reported one, with its error."""
