"""Drivers around broker cores, which turn effects into deeds and deeds into stimuli, and the client.

`simulated` has virtual time and breaks what can break; `inprocess` has real asyncio tasks; `blocking` is the latter for
scripts without asyncio.
"""
