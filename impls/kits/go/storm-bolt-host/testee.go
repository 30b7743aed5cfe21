// A host of Storm bolts, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Tell the events emit, ack, fail, log, error, failed and exited when they reach the collector of the
// host.
package main

// Have the library run child (its arguments, with env beside the environment) with conf and context.
func doStart(given request) (any, error) { return nil, todo("start") }

// Hand it the tuple id with comp, stream, task and tuple.
func doTuple(given request) (any, error) { return nil, todo("tuple") }

// Set what the emits that follow get: ids.
func doTaskIds(given request) (any, error) { return nil, todo("task_ids") }

func main() {
	serve(map[string]op{
		"start":    doStart,
		"tuple":    doTuple,
		"task_ids": doTaskIds,
	}, "task_ids")
}
