"""The suites for STOMP servers: one file for each section of the source."""
