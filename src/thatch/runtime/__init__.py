"""Drivers around broker cores: they turn a broker's effects into actions and what happens into stimuli.

network     brokers as asyncio tasks in this process (`broker_task`), with their `client`
blocking    the same for scripts without asyncio
simulated   brokers in virtual time, with faults on demand
routes      where an event would go in a whole network, and why
"""
