"""Where the rows live: the verbs, and the engines that carry them out."""
