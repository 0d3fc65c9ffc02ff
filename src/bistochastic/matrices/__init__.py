"""The algebra of channels: one file per structure, and what can be built and asked of them."""
