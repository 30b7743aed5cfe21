"""The suites for Storm multilang: one file for each section, for bolts, spouts and their hosts."""
