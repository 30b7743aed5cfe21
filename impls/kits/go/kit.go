// What every testee in Go does, whatever library it is around. Copy this file beside your testee.go.
//
// Go 1.18 or newer, standard library only. The contract is docs/testees.md of Wireproof:
//
//	serve(map[string]op{"connect": doConnect, ...})   JSON objects on stdin, one a line; each is answered on stdout
//	serveFilter(again)                                lines of hex on stdin, each answered by hex or by ERR and why
//	note, stepsOfRecord, run, ...                     for user code that a library calls: bolts, spouts, processors
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// errUnsupported is answered for what the library does not offer: nothing was sent then, and nobody asks for it again.
var errUnsupported = errors.New("unsupported")

// todo stands in a template for what is still to be written.
func todo(what string) error { return errors.New("still to be written in testee.go: " + what) }

// --- the loop --------------------------------------------------------------------------------------------------------

// request is one object of stdin. Its numbers are json.Number, so that none loses a digit.
type request map[string]any

// text is a member that is a text, or "".
func (r request) text(name string) string {
	found, _ := r[name].(string)
	return found
}

// given says whether a member is there and not null.
func (r request) given(name string) bool { return r[name] != nil }

// texts is a member that is an array of texts.
func (r request) texts(name string) []string {
	list, _ := r[name].([]any)
	found := []string{}
	for _, each := range list {
		found = append(found, fmt.Sprint(each))
	}
	return found
}

// pairs is a member that is an object of texts.
func (r request) pairs(name string) map[string]string {
	object, _ := r[name].(map[string]any)
	found := map[string]string{}
	for key, value := range object {
		found[key] = fmt.Sprint(value)
	}
	return found
}

// ms is a member that is a number of milliseconds.
func (r request) ms(name string) time.Duration {
	number, _ := r[name].(json.Number)
	found, _ := number.Float64()
	return time.Duration(found * float64(time.Millisecond))
}

// octets is a member that is hex.
func (r request) octets(name string) ([]byte, error) { return hex.DecodeString(r.text(name)) }

type op func(given request) (any, error)

var (
	answers *os.File // the real stdout, once a loop has begun: whatever else is printed goes to stderr
	saying  sync.Mutex
)

func begin() { answers, os.Stdout = os.Stdout, os.Stderr }

func say(line []byte) {
	saying.Lock()
	defer saying.Unlock()
	_, _ = answers.Write(append(line, '\n'))
}

func text(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}

// event tells what happened without being asked for, such as a checkpoint that a child wants. Any goroutine may.
func event(name string, members map[string]any) {
	said := map[string]any{"event": name}
	for key, value := range members {
		said[key] = value
	}
	if line, err := text(said); err == nil {
		say(line)
	}
}

// eachLine hands on lines of any length, without what ends them.
func eachLine(do func(line []byte)) {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			do(line)
		}
		if err != nil {
			return
		}
	}
}

// serve carries out what is said on stdin until it ends, one op after the other; those in atOnce do not wait for one
// that is still going on.
func serve(ops map[string]op, atOnce ...string) {
	begin()
	quick := map[string]bool{}
	for _, name := range atOnce {
		quick[name] = true
	}
	waiting := make(chan request, 1<<16)
	go func() {
		for said := range waiting {
			carryOut(ops, said)
		}
	}()
	eachLine(func(line []byte) {
		said := request{}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&said); err != nil || said.text("op") == "" {
			fmt.Fprintf(os.Stderr, "no JSON object with an op: %.100q\n", line)
		} else if len(quick) > 0 && !quick[said.text("op")] {
			waiting <- said
		} else {
			carryOut(ops, said)
		}
	})
	os.Exit(0) // goroutines of the library may wait for somebody who is gone
}

func carryOut(ops map[string]op, said request) {
	answer := map[string]any{"id": said["id"]}
	value, err := safely(ops[said.text("op")], said)
	if err == nil {
		answer["ok"] = value
		if line, wrong := text(answer); wrong == nil {
			say(line)
			return
		} else {
			delete(answer, "ok")
			err = wrong
		}
	}
	answer["error"] = err.Error()
	if err.Error() == "" {
		answer["error"] = "it failed"
	}
	line, _ := text(answer)
	say(line)
}

// safely carries out one op. A panic of the library is an error of it.
func safely(do op, said request) (value any, err error) {
	defer func() {
		if wrong := recover(); wrong != nil {
			err = fmt.Errorf("panic: %v", wrong)
		}
	}()
	if do == nil {
		return nil, errUnsupported
	}
	return do(said)
}

// serveFilter answers each line of hex by the hex of what again makes of its octets, or by ERR and why it failed.
func serveFilter(again func(octets []byte) ([]byte, error)) {
	begin()
	eachLine(func(line []byte) {
		octets, err := hex.DecodeString(string(line))
		if err == nil {
			octets, err = refiltered(again, octets)
		}
		if err != nil {
			say([]byte("ERR " + strings.NewReplacer("\n", " ", "\r", " ").Replace(err.Error())))
			return
		}
		say([]byte(hex.EncodeToString(octets)))
	})
	os.Exit(0)
}

func refiltered(again func([]byte) ([]byte, error), octets []byte) (out []byte, err error) {
	defer func() {
		if wrong := recover(); wrong != nil {
			err = fmt.Errorf("panic: %v", wrong)
		}
	}()
	return again(octets)
}

// place gives host and port of HOST:PORT.
func place(address string) (string, int) {
	host, port, _ := net.SplitHostPort(address)
	number, _ := strconv.Atoi(port)
	return host, number
}

// --- what a testee has to remember -----------------------------------------------------------------------------------

// handles are things by the texts that the suite calls them by.
type handles[T any] struct {
	things map[string]T
	count  int
}

// keep gives a new handle.
func (h *handles[T]) keep(thing T) string {
	if h.things == nil {
		h.things = map[string]T{}
	}
	h.count++
	name := strconv.Itoa(h.count)
	h.things[name] = thing
	return name
}

// get gives what a handle stands for.
func (h *handles[T]) get(name string) (T, error) {
	found, known := h.things[name]
	if !known {
		return found, fmt.Errorf("there is no %q", name)
	}
	return found, nil
}

// inbox is what was heard of one connection: messages that wait for receive, and why it is over.
type inbox[T any] struct {
	messages chan T
	ended    chan struct{}
	once     sync.Once
	why      error
}

func newInbox[T any]() *inbox[T] {
	return &inbox[T]{messages: make(chan T, 1<<16), ended: make(chan struct{})}
}

// put says that a message has come.
func (i *inbox[T]) put(message T) { i.messages <- message }

// over says that the connection is of no more use. The first reason counts.
func (i *inbox[T]) over(why error) {
	i.once.Do(func() {
		i.why = why
		close(i.ended)
	})
}

// take gives the next message; false when there is none in time, an error when there will be none.
func (i *inbox[T]) take(wait time.Duration) (found T, came bool, err error) {
	select {
	case found = <-i.messages:
		return found, true, nil
	default:
	}
	select {
	case found = <-i.messages:
		return found, true, nil
	case <-i.ended:
		return found, false, i.why
	case <-time.After(wait):
		return found, false, nil
	}
}

// --- user code that a library calls ----------------------------------------------------------------------------------

type step map[string]any

// note writes down what user code saw, when a callback begins: before its first step, and before any answer.
func note(call string, seen map[string]any) {
	name := os.Getenv("WIREPROOF_OBSERVATIONS")
	if name == "" {
		return
	}
	said := map[string]any{"call": call}
	for key, value := range seen {
		said[key] = value
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer file.Close()
	if line, err := text(said); err == nil {
		_, _ = file.Write(append(line, '\n'))
	}
}

// decoded gives the octets of a record, for libraries that leave its base64 to user code.
func decoded(data string) ([]byte, error) { return base64.StdEncoding.DecodeString(data) }

func stepsIn(value any) []step {
	list, _ := value.([]any)
	found := []step{}
	for _, each := range list {
		if object, is := each.(map[string]any); is {
			found = append(found, object)
		}
	}
	return found
}

// stepsOfRecord gives the steps that a record of KCL carries; none for an ordinary one.
func stepsOfRecord(data []byte) []step {
	value := map[string]any{}
	if !utf8.Valid(data) || json.Unmarshal(data, &value) != nil {
		return nil
	}
	return stepsIn(value["wireproof"])
}

// stepsOfTuple gives the steps that a tuple of Storm carries; false for an ordinary one, which is to be acked.
func stepsOfTuple(values []any) ([]step, bool) {
	if len(values) != 2 || values[0] != "wireproof" {
		return nil, false
	}
	_, is := values[1].([]any)
	return stepsIn(values[1]), is
}

// stepsOfCommand gives the steps that conf has for a spout's next, ack or fail; nexts were next before it.
func stepsOfCommand(conf map[string]any, command string, nexts int) []step {
	if command != "next" {
		return stepsIn(conf["wireproof.on_"+command])
	}
	script, _ := conf["wireproof.script"].([]any)
	if nexts >= len(script) {
		return nil
	}
	return stepsIn(script[nexts])
}

// run does them, in order. ops are those that the library does: checkpoint, emit, ack, fail, log. It gives the error of
// the first that fails, and the one that the step raise asks for: the later steps are dropped then.
func run(steps []step, ops map[string]func(step) error) error {
	for _, each := range steps {
		name, _ := each["op"].(string)
		text, _ := each["text"].(string)
		switch do, known := ops[name]; {
		case known:
			if err := do(each); err != nil {
				return err
			}
		case name == "print":
			_, _ = io.WriteString(os.Stdout, text)
		case name == "stderr":
			_, _ = io.WriteString(os.Stderr, text)
		case name == "sleep":
			number, _ := strconv.ParseFloat(fmt.Sprint(each["ms"]), 64)
			time.Sleep(time.Duration(number * float64(time.Millisecond)))
		case name == "raise":
			return errors.New("told to raise")
		default:
			fmt.Fprintf(os.Stderr, "unknown step %q\n", name)
		}
	}
	return nil
}
