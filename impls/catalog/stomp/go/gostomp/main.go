// A program around github.com/go-stomp/stomp/v3: told by JSON lines, it calls the library.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-stomp/stomp/v3"
	"github.com/go-stomp/stomp/v3/frame"
)

type request struct {
	ID          any               `json:"id"`
	Op          string            `json:"op"`
	Address     string            `json:"address"`
	Login       *string           `json:"login"`
	Passcode    *string           `json:"passcode"`
	Host        string            `json:"host"`
	Versions    []string          `json:"versions"`
	HeartBeat   []int             `json:"heart_beat"`
	Destination string            `json:"destination"`
	BodyHex     string            `json:"body_hex"`
	Headers     map[string]string `json:"headers"`
	Transaction *string           `json:"transaction"`
	Receipt     any               `json:"receipt"`
	Sub         string            `json:"sub"`
	Ack         string            `json:"ack"`
	Ref         string            `json:"ref"`
	TimeoutMs   float64           `json:"timeout_ms"`
}

// receipt says whether a receipt is asked for; the library makes the id.
func (r *request) receipt() bool { return r.Receipt != nil && r.Receipt != false && r.Receipt != "" }

var errUnsupported = errors.New("unsupported")

// session is one connection, and what the suite calls things on it.
type session struct {
	conn  *stomp.Conn
	subs  map[string]*stomp.Subscription
	txs   map[string]*stomp.Transaction
	refs  map[string]*stomp.Message
	inbox chan told
	over  chan struct{}
	once  sync.Once
	why   error
	seen  int
}

// told is a message, or the error that the library gives in its place.
type told struct {
	message *stomp.Message
	sub     string
}

func (s *session) end(why error) {
	s.once.Do(func() {
		s.why = why
		close(s.over)
	})
}

func connect(r *request) (*session, error) {
	options := []func(*stomp.Conn) error{stomp.ConnOpt.Host(r.Host)}
	for _, version := range r.Versions {
		options = append(options, stomp.ConnOpt.AcceptVersion(stomp.Version(version)))
	}
	if r.Login != nil || r.Passcode != nil {
		options = append(options, stomp.ConnOpt.Login(text(r.Login), text(r.Passcode)))
	}
	send, receive := 0, 0
	if len(r.HeartBeat) == 2 {
		send, receive = r.HeartBeat[0], r.HeartBeat[1]
	}
	beats := stomp.ConnOpt.HeartBeat(time.Duration(send)*time.Millisecond, time.Duration(receive)*time.Millisecond)
	conn, err := stomp.Dial("tcp", r.Address, append(options, beats)...)
	if err != nil {
		return nil, err
	}
	return &session{
		conn: conn, subs: map[string]*stomp.Subscription{}, txs: map[string]*stomp.Transaction{},
		refs: map[string]*stomp.Message{}, inbox: make(chan told, 1<<16), over: make(chan struct{}),
	}, nil
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

// listen hands on what the library gives on the channel of one subscription.
func (s *session) listen(name string, sub *stomp.Subscription) {
	for message := range sub.C {
		if message.Err != nil {
			s.end(message.Err)
			return
		}
		s.inbox <- told{message, name}
	}
}

func (s *session) send(r *request) (any, error) {
	body, err := hex.DecodeString(r.BodyHex)
	if err != nil {
		return nil, err
	}
	options := []func(*frame.Frame) error{}
	contentType := ""
	for name, value := range r.Headers {
		if name == "content-type" {
			contentType = value
			continue
		}
		options = append(options, stomp.SendOpt.Header(name, value))
	}
	if r.receipt() {
		options = append(options, stomp.SendOpt.Receipt)
	}
	if r.Transaction == nil {
		return true, s.conn.Send(r.Destination, contentType, body, options...)
	}
	tx := s.txs[*r.Transaction]
	if tx == nil {
		return nil, errors.New("there is no such transaction")
	}
	return true, tx.Send(r.Destination, contentType, body, options...)
}

var modes = map[string]stomp.AckMode{
	"": stomp.AckAuto, "auto": stomp.AckAuto, "client": stomp.AckClient, "client-individual": stomp.AckClientIndividual,
}

func (s *session) subscribe(r *request) (any, error) {
	if r.receipt() {
		return nil, errUnsupported
	}
	sub, err := s.conn.Subscribe(r.Destination, modes[r.Ack], stomp.SubscribeOpt.Id(r.Sub))
	if err != nil {
		return nil, err
	}
	s.subs[r.Sub] = sub
	go s.listen(r.Sub, sub)
	return true, nil
}

func (s *session) unsubscribe(r *request) (any, error) {
	sub := s.subs[r.Sub]
	if sub == nil {
		return nil, errors.New("there is no such subscription")
	}
	return true, sub.Unsubscribe() // asks for a receipt by itself, and waits for it
}

func (s *session) settle(r *request) (any, error) {
	message := s.refs[r.Ref]
	if message == nil {
		return nil, errors.New("there is no such message")
	}
	if r.receipt() {
		return nil, errUnsupported
	}
	if r.Op == "nack" && s.conn.Version() == stomp.V10 {
		return nil, errUnsupported
	}
	if r.Transaction == nil {
		if r.Op == "ack" {
			return true, s.conn.Ack(message)
		}
		return true, s.conn.Nack(message)
	}
	tx := s.txs[*r.Transaction]
	if tx == nil {
		return nil, errors.New("there is no such transaction")
	}
	if r.Op == "ack" {
		return true, tx.Ack(message)
	}
	return true, tx.Nack(message)
}

func (s *session) begin(r *request) (any, error) {
	if r.receipt() {
		return nil, errUnsupported
	}
	tx, err := s.conn.BeginWithError()
	if err == nil {
		s.txs[*r.Transaction] = tx
	}
	return true, err
}

func (s *session) finish(r *request) (any, error) {
	tx := s.txs[*r.Transaction]
	if tx == nil {
		return nil, errors.New("there is no such transaction")
	}
	delete(s.txs, *r.Transaction)
	work := map[string]func() error{"commit": tx.Commit, "abort": tx.Abort}
	if r.receipt() {
		work = map[string]func() error{"commit": tx.CommitWithReceipt, "abort": tx.AbortWithReceipt}
	}
	return true, work[r.Op]()
}

func (s *session) receive(r *request) (any, error) {
	var found told
	select {
	case found = <-s.inbox:
	default:
		select {
		case found = <-s.inbox:
		case <-s.over:
			return nil, s.why
		case <-time.After(time.Duration(r.TimeoutMs * float64(time.Millisecond))):
			return nil, nil
		}
	}
	s.seen++
	ref := strconv.Itoa(s.seen)
	s.refs[ref] = found.message
	headers := map[string]string{}
	for i := 0; i < found.message.Header.Len(); i++ {
		name, value := found.message.Header.GetAt(i)
		if _, there := headers[name]; !there {
			headers[name] = value
		}
	}
	body := hex.EncodeToString(found.message.Body)
	return map[string]any{"ref": ref, "headers": headers, "body_hex": body, "sub": found.sub}, nil
}

var session1 *session

func carryOut(r *request) (any, error) {
	ops := map[string]func(*session, *request) (any, error){
		"send": (*session).send, "subscribe": (*session).subscribe, "unsubscribe": (*session).unsubscribe,
		"ack": (*session).settle, "nack": (*session).settle, "begin": (*session).begin,
		"commit": (*session).finish, "abort": (*session).finish, "receive": (*session).receive,
	}
	switch op, known := ops[r.Op]; {
	case r.Op == "connect":
		if session1 != nil {
			_ = session1.conn.MustDisconnect()
		}
		made, err := connect(r)
		session1 = made
		return true, err
	case r.Op == "disconnect":
		if session1 == nil {
			return true, nil
		}
		return true, session1.conn.Disconnect()
	case !known:
		return nil, errUnsupported
	case session1 == nil:
		return nil, errors.New("not connected")
	default:
		return op(session1, r)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		r := &request{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			panic(err)
		}
		answer := map[string]any{"id": r.ID}
		if value, err := carryOut(r); err != nil {
			answer["error"] = err.Error()
			if err.Error() == "" {
				answer["error"] = "it failed"
			}
		} else {
			answer["ok"] = value
		}
		_ = out.Encode(answer)
	}
}
