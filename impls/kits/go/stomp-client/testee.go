// A STOMP client library, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Give what the library hears to an inbox of the kit: messages, receipts, and why the connection is over.
package main

// Open a connection to address (HOST:PORT), offering versions, host, login, passcode, heart_beat; answer when the
// library is connected.
func doConnect(given request) (any, error) { return nil, todo("connect") }

// Send the octets of body_hex to destination with headers, in transaction if there is one; with receipt, answer
// when the RECEIPT has come.
func doSend(given request) (any, error) { return nil, todo("send") }

// Subscribe to destination in the mode ack; later ops call the subscription sub.
func doSubscribe(given request) (any, error) { return nil, todo("subscribe") }

// End the subscription sub.
func doUnsubscribe(given request) (any, error) { return nil, todo("unsubscribe") }

// Acknowledge the message that receive gave this ref, in transaction if there is one.
func doAck(given request) (any, error) { return nil, todo("ack") }

// Refuse the message that receive gave this ref.
func doNack(given request) (any, error) { return nil, todo("nack") }

// Begin a transaction that is called transaction.
func doBegin(given request) (any, error) { return nil, todo("begin") }

// Commit that transaction.
func doCommit(given request) (any, error) { return nil, todo("commit") }

// Abort that transaction.
func doAbort(given request) (any, error) { return nil, todo("abort") }

// Wait timeout_ms for a message of any subscription: ref, headers, body_hex and sub; or null when none came.
func doReceive(given request) (any, error) { return nil, todo("receive") }

// End the session as the library does that.
func doDisconnect(given request) (any, error) { return nil, todo("disconnect") }

func main() {
	serve(map[string]op{
		"connect":     doConnect,
		"send":        doSend,
		"subscribe":   doSubscribe,
		"unsubscribe": doUnsubscribe,
		"ack":         doAck,
		"nack":        doNack,
		"begin":       doBegin,
		"commit":      doCommit,
		"abort":       doAbort,
		"receive":     doReceive,
		"disconnect":  doDisconnect,
	})
}
