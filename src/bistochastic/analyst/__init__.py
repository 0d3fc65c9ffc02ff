"""What an analyst does with a release: tables, means, models, from its folder alone."""
