// A host of KCL record processors, told what to do. Write what is still to be written; `wireproof check` says what
// is missing. Tell the event checkpoint with `at` when a checkpoint reaches the checkpointer, and failed with `why`
// when a callback ends otherwise.
package main

// Have the library run child (its arguments, with env beside the environment) for the shard shardId.
func doStart(given request) (any, error) { return nil, todo("start") }

// Have it initialize the child for shardId; answer when that callback is over, as for each of these.
func doInitialize(given request) (any, error) { return nil, todo("initialize") }

// Hand it records, each with data_hex, partitionKey and sequenceNumber.
func doProcessRecords(given request) (any, error) { return nil, todo("processRecords") }

// Have it end the child for reason. In newer releases: the three that follow, and this one is unsupported.
func doShutdown(given request) (any, error) { return nil, todo("shutdown") }

// Tell it that the lease is lost.
func doLeaseLost(given request) (any, error) { return nil, todo("leaseLost") }

// Tell it that the shard has ended.
func doShardEnded(given request) (any, error) { return nil, todo("shardEnded") }

// Tell it that a shutdown is requested.
func doShutdownRequested(given request) (any, error) { return nil, todo("shutdownRequested") }

// Set what the next checkpoints meet: the name of an error, or null.
func doCheckpointer(given request) (any, error) { return nil, todo("checkpointer") }

func main() {
	serve(map[string]op{
		"start":             doStart,
		"initialize":        doInitialize,
		"processRecords":    doProcessRecords,
		"shutdown":          doShutdown,
		"leaseLost":         doLeaseLost,
		"shardEnded":        doShardEnded,
		"shutdownRequested": doShutdownRequested,
		"checkpointer":      doCheckpointer,
	}, "checkpointer")
}
