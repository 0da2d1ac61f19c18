"""The command line: one file a command. Each reads its arguments, calls one function, prints and exits."""
