"""Does the quick suite notice when the core is broken? Small faults put in, one at a time."""
