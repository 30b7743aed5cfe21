"""The suites for KCL MultiLang: one file for each section, for children and for hosts."""
