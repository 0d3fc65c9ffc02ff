"""Times, each beside a direct definition or a floor measured in the same run."""
