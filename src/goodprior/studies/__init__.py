"""Studies: the paper's experiments as grids of jobs, and reports that put our numbers beside its.

`goodprior study list | run NAME | report NAME`. A finished job is a line of
`results/<study>/jobs.jsonl` and never runs again, here or on any machine that has a clone.
"""
