module testee

go 1.18
