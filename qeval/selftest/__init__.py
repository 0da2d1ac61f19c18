"""`qeval selftest`: damage and faults planted on purpose, to see on this machine what the gate makes of each."""
