"""Placement: bandwidth, load and time of its algorithms on the workloads of yu2012."""
