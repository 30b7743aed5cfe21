// A processor of the MessagePack IDL, told what to do. Write what is still to be written; `wireproof check` says
// what is missing. The tree and the errors are written as docs/testees.md says.
package main

// Parse the document source in the profile; answer its tree as ast, or errors with kind, code, line, col and
// message.
func doParse(given request) (any, error) { return nil, todo("parse") }

func main() {
	serve(map[string]op{
		"parse": doParse,
	})
}
