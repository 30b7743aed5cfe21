"""The role idl-server: servers that are made from a document of the interface language."""
