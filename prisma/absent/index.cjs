// It exports nothing.
