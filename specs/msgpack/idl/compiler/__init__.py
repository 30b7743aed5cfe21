"""The role idl: processors of the interface language, judged by what they answer to a document."""
