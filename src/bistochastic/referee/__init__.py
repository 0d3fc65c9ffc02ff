"""Any masked file against its original, whoever made it, and several against each other."""
