// A host of Storm spouts, told what to do. Write what is still to be written; `wireproof check` says what is
// missing. Tell the events emit, log, sync, error, failed and exited when they reach the collector of the host.
package main

// Have the library run child (its arguments, with env beside the environment) with conf and context.
func doStart(given request) (any, error) { return nil, todo("start") }

// Ask it for the next tuple.
func doNext(given request) (any, error) { return nil, todo("next") }

// Tell it that the emit id was acked.
func doAck(given request) (any, error) { return nil, todo("ack") }

// Tell it that the emit id has failed.
func doFail(given request) (any, error) { return nil, todo("fail") }

// Set what the emits that follow get: ids.
func doTaskIds(given request) (any, error) { return nil, todo("task_ids") }

func main() {
	serve(map[string]op{
		"start":    doStart,
		"next":     doNext,
		"ack":      doAck,
		"fail":     doFail,
		"task_ids": doTaskIds,
	}, "task_ids")
}
