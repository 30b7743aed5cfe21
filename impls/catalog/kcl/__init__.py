"""Programs around real KCL libraries, which do what the suite tells them. Each runs in a process of its own."""
