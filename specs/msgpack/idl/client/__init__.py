"""The role idl-client: clients that are made from a document of the interface language."""
