// A Pulsar client library, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Keep producers, consumers and messages as handles of the kit: what is answered stands for them in later
// ops.
package main

// Make a client for url; with the credentials auth_method and auth_data where they are given.
func doConnect(given request) (any, error) { return nil, todo("connect") }

// Make a producer for topic, called name if there is one; answer a handle.
func doProducer(given request) (any, error) { return nil, todo("producer") }

// Send payload_hex with key and properties by producer; answer the id of the message, as a text.
func doSend(given request) (any, error) { return nil, todo("send") }

// The same without waiting; answer a handle. Leave it unsupported where the library cannot.
func doSendAsync(given request) (any, error) { return nil, todo("send_async") }

// Wait for what send_async gave this handle; answer the id of the message.
func doAwait(given request) (any, error) { return nil, todo("await") }

// Subscribe to topic as subscription, of the type Exclusive, Shared or Failover, with permits; answer a handle.
func doSubscribe(given request) (any, error) { return nil, todo("subscribe") }

// Wait timeout_ms for a message of consumer: ref, payload_hex, key and properties; or null when none came.
func doReceive(given request) (any, error) { return nil, todo("receive") }

// Acknowledge the message ref of consumer; with cumulative, all up to it.
func doAck(given request) (any, error) { return nil, todo("ack") }

// Have consumer ask for what is not acknowledged.
func doRedeliver(given request) (any, error) { return nil, todo("redeliver") }

// Close producer, or consumer.
func doClose(given request) (any, error) { return nil, todo("close") }

// Close the client.
func doDisconnect(given request) (any, error) { return nil, todo("disconnect") }

func main() {
	serve(map[string]op{
		"connect":    doConnect,
		"producer":   doProducer,
		"send":       doSend,
		"send_async": doSendAsync,
		"await":      doAwait,
		"subscribe":  doSubscribe,
		"receive":    doReceive,
		"ack":        doAck,
		"redeliver":  doRedeliver,
		"close":      doClose,
		"disconnect": doDisconnect,
	})
}
