"""What the sites say about the use of their pages: statements in their own words, and what these mean for each use."""
