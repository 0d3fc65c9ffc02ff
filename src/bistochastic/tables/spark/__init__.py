"""Spark: the same plan, key and bytes, where rows live on many machines."""
