"""Programs around real MessagePack libraries. Each runs in a process of its own."""
