"""Where a plan and the usual methods lie between privacy and distortion, for a table."""
