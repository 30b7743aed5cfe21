// A server that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
// `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
package main

// Serve the application of the document idl with the behaviour of its slots; answer the port on 127.0.0.1.
func doServe(given request) (any, error) { return nil, todo("serve") }

// Give the slot another behaviour while it serves.
func doAssign(given request) (any, error) { return nil, todo("assign") }

// Stop serving.
func doStop(given request) (any, error) { return nil, todo("stop") }

func main() {
	serve(map[string]op{
		"serve":  doServe,
		"assign": doAssign,
		"stop":   doStop,
	})
}
