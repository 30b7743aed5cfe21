// The library vmihailenco/msgpack as a filter: one line of hex in, the hex of what was decoded and encoded again out,
// or ERR and why.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

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

func safely(octets []byte) (out []byte, err error) {
	defer func() {
		if wrong := recover(); wrong != nil {
			err = fmt.Errorf("panic: %v", wrong)
		}
	}()
	return again(octets)
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		octets, err := hex.DecodeString(strings.TrimSpace(line))
		if err == nil {
			octets, err = safely(octets)
		}
		if err != nil {
			fmt.Println("ERR", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Println(hex.EncodeToString(octets))
		}
	}
}
