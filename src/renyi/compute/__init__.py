"""Where and how work runs: threads, progress, memory, array libraries, torch devices, Dask.

Knows arrays and tasks, and no statistics: nothing here may import another room of the package.
"""
