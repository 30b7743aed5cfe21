// A client that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
// `wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md.
package main

// Make a client of the application app of the document idl, and connect it to address.
func doConnect(given request) (any, error) { return nil, todo("connect") }

// Call fn of the version in scope with args; answer its result, or the exception that was caught.
func doCall(given request) (any, error) { return nil, todo("call") }

// Close the connection.
func doDisconnect(given request) (any, error) { return nil, todo("disconnect") }

func main() {
	serve(map[string]op{
		"connect":    doConnect,
		"call":       doCall,
		"disconnect": doDisconnect,
	})
}
