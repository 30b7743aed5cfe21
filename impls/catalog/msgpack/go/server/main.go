// A server made with the RPC library of neovim/go-client: server PORT
package main

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/neovim/go-client/msgpack/rpc"
)

func serve(connection net.Conn, counted *atomic.Int64) {
	defer connection.Close()
	endpoint, err := rpc.NewEndpoint(connection, connection, connection)
	if err != nil {
		return
	}
	methods := map[string]any{
		"echo":  func(value any) (any, error) { return value, nil },
		"add":   func(one, other int64) (int64, error) { return one + other, nil },
		"fail":  func(text string) error { return errors.New("failed: " + text) },
		"sleep": func(ms int64) (int64, error) { time.Sleep(time.Duration(ms) * time.Millisecond); return ms, nil },
		"count": func() (int64, error) { return counted.Load(), nil },
		"bump":  func() error { counted.Add(1); return nil },
	}
	for name, method := range methods {
		if err := endpoint.Register(name, method); err != nil {
			panic(err)
		}
	}
	_ = endpoint.Serve()
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	var counted atomic.Int64
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go serve(connection, &counted)
	}
}
