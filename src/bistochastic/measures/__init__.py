"""What a masked file keeps, gives away and loses: numbers from matrices, counts and arrays."""
