"""The MessagePack IDL: grammar, static and dynamic semantics. Source: 004_4ca5b084f7ea0751.txt."""
