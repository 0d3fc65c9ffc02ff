"""The plan a person writes: read, checked, explained."""
