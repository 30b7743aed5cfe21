// A program around github.com/go-stomp/stomp/v3: told by JSON lines, it calls the library.
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-stomp/stomp/v3"
	"github.com/go-stomp/stomp/v3/frame"
)

// receipt says whether a receipt is asked for; the library makes the id.
func receipt(r request) bool {
	return r.given("receipt") && r["receipt"] != false && r["receipt"] != ""
}

// session is one connection, and what the suite calls things on it.
type session struct {
	conn  *stomp.Conn
	subs  map[string]*stomp.Subscription
	txs   map[string]*stomp.Transaction
	refs  handles[*stomp.Message]
	inbox *inbox[told]
}

// told is a message, or the error that the library gives in its place.
type told struct {
	message *stomp.Message
	sub     string
}

func connect(r request) (*session, error) {
	options := []func(*stomp.Conn) error{stomp.ConnOpt.Host(r.text("host"))}
	for _, version := range r.texts("versions") {
		options = append(options, stomp.ConnOpt.AcceptVersion(stomp.Version(version)))
	}
	if r.given("login") || r.given("passcode") {
		options = append(options, stomp.ConnOpt.Login(r.text("login"), r.text("passcode")))
	}
	send, receive := time.Duration(0), time.Duration(0)
	if beats := r.texts("heart_beat"); len(beats) == 2 {
		send, receive = milliseconds(beats[0]), milliseconds(beats[1])
	}
	beats := stomp.ConnOpt.HeartBeat(send, receive)
	conn, err := stomp.Dial("tcp", r.text("address"), append(options, beats)...)
	if err != nil {
		return nil, err
	}
	return &session{
		conn: conn, subs: map[string]*stomp.Subscription{}, txs: map[string]*stomp.Transaction{},
		inbox: newInbox[told](),
	}, nil
}

func milliseconds(number string) time.Duration {
	return request{"ms": json.Number(number)}.ms("ms")
}

// listen hands on what the library gives on the channel of one subscription.
func (s *session) listen(name string, sub *stomp.Subscription) {
	for message := range sub.C {
		if message.Err != nil {
			s.inbox.over(message.Err)
			return
		}
		s.inbox.put(told{message, name})
	}
}

func (s *session) send(r request) (any, error) {
	body, err := r.octets("body_hex")
	if err != nil {
		return nil, err
	}
	options := []func(*frame.Frame) error{}
	contentType := ""
	for name, value := range r.pairs("headers") {
		if name == "content-type" {
			contentType = value
			continue
		}
		options = append(options, stomp.SendOpt.Header(name, value))
	}
	if receipt(r) {
		options = append(options, stomp.SendOpt.Receipt)
	}
	if !r.given("transaction") {
		return true, s.conn.Send(r.text("destination"), contentType, body, options...)
	}
	tx := s.txs[r.text("transaction")]
	if tx == nil {
		return nil, errors.New("there is no such transaction")
	}
	return true, tx.Send(r.text("destination"), contentType, body, options...)
}

var modes = map[string]stomp.AckMode{
	"": stomp.AckAuto, "auto": stomp.AckAuto, "client": stomp.AckClient, "client-individual": stomp.AckClientIndividual,
}

func (s *session) subscribe(r request) (any, error) {
	if receipt(r) {
		return nil, errUnsupported
	}
	sub, err := s.conn.Subscribe(r.text("destination"), modes[r.text("ack")], stomp.SubscribeOpt.Id(r.text("sub")))
	if err != nil {
		return nil, err
	}
	s.subs[r.text("sub")] = sub
	go s.listen(r.text("sub"), sub)
	return true, nil
}

func (s *session) unsubscribe(r request) (any, error) {
	sub := s.subs[r.text("sub")]
	if sub == nil {
		return nil, errors.New("there is no such subscription")
	}
	return true, sub.Unsubscribe() // asks for a receipt by itself, and waits for it
}

func (s *session) settle(r request) (any, error) {
	message, err := s.refs.get(r.text("ref"))
	if err != nil {
		return nil, err
	}
	if receipt(r) {
		return nil, errUnsupported
	}
	if r.text("op") == "nack" && s.conn.Version() == stomp.V10 {
		return nil, errUnsupported
	}
	if !r.given("transaction") {
		if r.text("op") == "ack" {
			return true, s.conn.Ack(message)
		}
		return true, s.conn.Nack(message)
	}
	tx := s.txs[r.text("transaction")]
	if tx == nil {
		return nil, errors.New("there is no such transaction")
	}
	if r.text("op") == "ack" {
		return true, tx.Ack(message)
	}
	return true, tx.Nack(message)
}

func (s *session) begin(r request) (any, error) {
	if receipt(r) {
		return nil, errUnsupported
	}
	tx, err := s.conn.BeginWithError()
	if err == nil {
		s.txs[r.text("transaction")] = tx
	}
	return true, err
}

func (s *session) finish(r request) (any, error) {
	tx := s.txs[r.text("transaction")]
	if tx == nil {
		return nil, errors.New("there is no such transaction")
	}
	delete(s.txs, r.text("transaction"))
	work := map[string]func() error{"commit": tx.Commit, "abort": tx.Abort}
	if receipt(r) {
		work = map[string]func() error{"commit": tx.CommitWithReceipt, "abort": tx.AbortWithReceipt}
	}
	return true, work[r.text("op")]()
}

func (s *session) receive(r request) (any, error) {
	found, came, err := s.inbox.take(r.ms("timeout_ms"))
	if err != nil || !came {
		return nil, err
	}
	headers := map[string]string{}
	for i := 0; i < found.message.Header.Len(); i++ {
		name, value := found.message.Header.GetAt(i)
		if _, there := headers[name]; !there {
			headers[name] = value
		}
	}
	body := hex.EncodeToString(found.message.Body)
	return map[string]any{"ref": s.refs.keep(found.message), "headers": headers, "body_hex": body, "sub": found.sub}, nil
}

var current *session

func begun(r request) (any, error) {
	if current != nil {
		_ = current.conn.MustDisconnect()
	}
	made, err := connect(r)
	current = made
	return true, err
}

func disconnect(request) (any, error) {
	if current == nil {
		return true, nil
	}
	return true, current.conn.Disconnect()
}

// within carries out an op of the current session.
func within(do func(*session, request) (any, error)) op {
	return func(r request) (any, error) {
		if current == nil {
			return nil, errors.New("not connected")
		}
		return do(current, r)
	}
}

func main() {
	serve(map[string]op{
		"connect": begun, "disconnect": disconnect,
		"send": within((*session).send), "subscribe": within((*session).subscribe),
		"unsubscribe": within((*session).unsubscribe), "ack": within((*session).settle), "nack": within((*session).settle),
		"begin": within((*session).begin), "commit": within((*session).finish), "abort": within((*session).finish),
		"receive": within((*session).receive),
	})
}
