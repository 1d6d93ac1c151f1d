"""Other people's ways to do the same work, to measure ours against."""
