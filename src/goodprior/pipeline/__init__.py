"""From rows and a belief to a posterior: the only composition of the parts."""
