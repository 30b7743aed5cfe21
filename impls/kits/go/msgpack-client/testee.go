// A MessagePack-RPC client library, told what to do. Write what is still to be written; `wireproof check` says what
// is missing. Params and results travel as MessagePack in hex.
package main

// Open a connection to address (HOST:PORT).
func doConnect(given request) (any, error) { return nil, todo("connect") }

// Call method with the array params_hex; answer result_hex, or error_hex when the call has failed.
func doCall(given request) (any, error) { return nil, todo("call") }

// The same without waiting; answer a handle. Leave it unsupported where the library cannot.
func doCallAsync(given request) (any, error) { return nil, todo("call_async") }

// Wait for the call that has this handle; answer as call does.
func doAwait(given request) (any, error) { return nil, todo("await") }

// Send the notification method with params_hex.
func doNotify(given request) (any, error) { return nil, todo("notify") }

// Close the connection.
func doDisconnect(given request) (any, error) { return nil, todo("disconnect") }

func main() {
	serve(map[string]op{
		"connect":    doConnect,
		"call":       doCall,
		"call_async": doCallAsync,
		"await":      doAwait,
		"notify":     doNotify,
		"disconnect": doDisconnect,
	})
}
