"""What `suites.check` looks at: the report, what was started, and the contract of programs that are told what to do."""
