// The library vmihailenco/msgpack as a filter: one line of hex in, the hex of what was decoded and encoded again out,
// or ERR and why.
package main

import (
	"bytes"
	"errors"

	"github.com/vmihailenco/msgpack/v5"
)

func again(octets []byte) ([]byte, error) {
	reader := bytes.NewReader(octets)
	decoder := msgpack.NewDecoder(reader)
	decoder.SetMapDecoder(func(d *msgpack.Decoder) (any, error) { return d.DecodeUntypedMap() })
	value, err := decoder.DecodeInterface()
	if err != nil {
		return nil, err
	}
	if reader.Len() > 0 {
		return nil, errors.New("octets are left")
	}
	var out bytes.Buffer
	encoder := msgpack.NewEncoder(&out)
	encoder.UseCompactInts(true)
	err = encoder.Encode(value)
	return out.Bytes(), err
}

func main() { serveFilter(again) }
