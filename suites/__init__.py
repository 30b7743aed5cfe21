"""What is tested: the suites that users run, and the hunt that they share."""
