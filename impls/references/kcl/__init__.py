"""KCL MultiLang: a reference child and a reference host, in process and from the command line."""
