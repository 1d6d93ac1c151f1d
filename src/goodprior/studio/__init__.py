"""The prior studio: a page on this machine on which a belief is shaped while looking at functions.

`server` answers requests on the loopback interface, `studio` what they ask for; `page/` is what the
browser shows. Belief draws are made with NumPy, so that no slider waits for a compiler.
"""
