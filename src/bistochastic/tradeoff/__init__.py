"""Privacy against distortion: the function, its bounds, the optimal channels."""
