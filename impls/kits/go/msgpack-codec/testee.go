// A MessagePack codec, told what to do. Write what is still to be written; `wireproof check` says what is missing.
// It is a filter: lines of hex in, lines of hex out.
package main

// again decodes octets that are one value, encodes it again, and gives the octets; an error refuses them.
func again(octets []byte) ([]byte, error) { return nil, todo("again") }

func main() { serveFilter(again) }
