module testees

go 1.21

require (
	github.com/neovim/go-client v1.2.1
	github.com/vmihailenco/msgpack/v5 v5.4.1
)

require github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
