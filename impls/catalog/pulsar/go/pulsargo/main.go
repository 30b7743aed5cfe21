// A program around the official Go client of Apache Pulsar: told by JSON lines, it calls the library. The library can
// refuse single messages only, so that to ask for all of them again is to refuse each that was received.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

const limit = 5 * time.Second

type sent struct {
	done chan struct{}
	id   pulsar.MessageID
	err  error
}

type subscribed struct {
	consumer pulsar.Consumer
	open     map[string]pulsar.Message // received, not acknowledged
	order    []string
}

var (
	client    pulsar.Client
	producers handles[pulsar.Producer]
	consumers handles[*subscribed]
	messages  handles[pulsar.Message]
	sends     handles[*sent]
)

func doConnect(given request) (any, error) {
	options := pulsar.ClientOptions{
		URL:               given.text("url"),
		OperationTimeout:  limit,
		ConnectionTimeout: 3 * time.Second,
	}
	switch given.text("auth_method") {
	case "":
	case "token":
		options.Authentication = pulsar.NewAuthenticationToken(given.text("auth_data"))
	default:
		return nil, errUnsupported
	}
	made, err := pulsar.NewClient(options)
	if err != nil {
		return nil, err
	}
	client = made
	return true, nil
}

func doProducer(given request) (any, error) {
	if client == nil {
		return nil, errors.New("not connected")
	}
	made, err := client.CreateProducer(pulsar.ProducerOptions{
		Topic:           given.text("topic"),
		Name:            given.text("name"),
		SendTimeout:     limit,
		DisableBatching: true,
	})
	if err != nil {
		return nil, err
	}
	return "p" + producers.keep(made), nil
}

func producerOf(given request) (pulsar.Producer, error) {
	name := given.text("producer")
	if name == "" {
		return nil, errors.New("no producer")
	}
	return producers.get(name[1:])
}

func consumerOf(given request) (*subscribed, error) {
	name := given.text("consumer")
	if name == "" {
		return nil, errors.New("no consumer")
	}
	return consumers.get(name[1:])
}

func messageOf(given request) (*pulsar.ProducerMessage, error) {
	payload, err := given.octets("payload_hex")
	if err != nil {
		return nil, err
	}
	message := &pulsar.ProducerMessage{Payload: payload, Key: given.text("key")}
	if properties := given.pairs("properties"); len(properties) > 0 {
		message.Properties = properties
	}
	return message, nil
}

func doSend(given request) (any, error) {
	producer, err := producerOf(given)
	if err != nil {
		return nil, err
	}
	message, err := messageOf(given)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Second)
	defer cancel()
	id, err := producer.Send(ctx, message)
	if err != nil {
		return nil, err
	}
	return id.String(), nil
}

func doSendAsync(given request) (any, error) {
	producer, err := producerOf(given)
	if err != nil {
		return nil, err
	}
	message, err := messageOf(given)
	if err != nil {
		return nil, err
	}
	one := &sent{done: make(chan struct{})}
	producer.SendAsync(context.Background(), message, func(id pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
		one.id, one.err = id, err
		close(one.done)
	})
	return sends.keep(one), nil
}

func doAwait(given request) (any, error) {
	one, err := sends.get(given.text("handle"))
	if err != nil {
		return nil, err
	}
	select {
	case <-one.done:
	case <-time.After(limit + time.Second):
		return nil, errors.New("no receipt")
	}
	if one.err != nil {
		return nil, one.err
	}
	return one.id.String(), nil
}

func doSubscribe(given request) (any, error) {
	if client == nil {
		return nil, errors.New("not connected")
	}
	options := pulsar.ConsumerOptions{
		Topic:               given.text("topic"),
		SubscriptionName:    given.text("subscription"),
		Name:                given.text("name"),
		NackRedeliveryDelay: 50 * time.Millisecond,
	}
	switch given.text("type") {
	case "", "Exclusive":
		options.Type = pulsar.Exclusive
	case "Shared":
		options.Type = pulsar.Shared
	case "Failover":
		options.Type = pulsar.Failover
	default:
		return nil, errUnsupported
	}
	if number, is := given["permits"].(json.Number); is {
		permits, _ := number.Int64()
		options.ReceiverQueueSize = int(permits)
		options.EnableZeroQueueConsumer = permits == 0
	}
	made, err := client.Subscribe(options)
	if err != nil {
		return nil, err
	}
	return "c" + consumers.keep(&subscribed{consumer: made, open: map[string]pulsar.Message{}}), nil
}

func doReceive(given request) (any, error) {
	from, err := consumerOf(given)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), given.ms("timeout_ms"))
	defer cancel()
	message, err := from.consumer.Receive(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ref := messages.keep(message)
	from.open[ref] = message
	from.order = append(from.order, ref)
	return map[string]any{
		"ref":         ref,
		"payload_hex": hex.EncodeToString(message.Payload()),
		"key":         message.Key(),
		"properties":  message.Properties(),
	}, nil
}

func doAck(given request) (any, error) {
	from, err := consumerOf(given)
	if err != nil {
		return nil, err
	}
	ref := given.text("ref")
	message, err := messages.get(ref)
	if err != nil {
		return nil, err
	}
	if cumulative, _ := given["cumulative"].(bool); cumulative {
		for _, each := range from.order {
			delete(from.open, each)
			if each == ref {
				break
			}
		}
		return true, from.consumer.AckCumulative(message)
	}
	delete(from.open, ref)
	return true, from.consumer.Ack(message)
}

func doRedeliver(given request) (any, error) {
	from, err := consumerOf(given)
	if err != nil {
		return nil, err
	}
	for _, ref := range from.order {
		if message, is := from.open[ref]; is {
			from.consumer.Nack(message)
		}
	}
	return true, nil
}

func doClose(given request) (any, error) {
	if given.text("producer") != "" {
		producer, err := producerOf(given)
		if err != nil {
			return nil, err
		}
		producer.Close()
		return true, nil
	}
	from, err := consumerOf(given)
	if err != nil {
		return nil, err
	}
	from.consumer.Close()
	return true, nil
}

func doDisconnect(given request) (any, error) {
	if client == nil {
		return nil, errors.New("not connected")
	}
	client.Close()
	client = nil
	return true, nil
}

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
