# A host of KCL record processors, told what to do. Write what is still to be written; `wireproof check` says what
# is missing. Tell the event checkpoint with `at` when a checkpoint reaches the checkpointer, and failed with `why`
# when a callback ends otherwise.
require_relative 'kit'

ops = {}

# Have the library run child (its arguments, with env beside the environment) for the shard shardId.
ops['start'] = lambda do |given|
  raise Kit::Todo, 'start'
end

# Have it initialize the child for shardId; answer when that callback is over, as for each of these.
ops['initialize'] = lambda do |given|
  raise Kit::Todo, 'initialize'
end

# Hand it records, each with data_hex, partitionKey and sequenceNumber.
ops['processRecords'] = lambda do |given|
  raise Kit::Todo, 'processRecords'
end

# Have it end the child for reason. In newer releases: the three that follow, and this one is unsupported.
ops['shutdown'] = lambda do |given|
  raise Kit::Todo, 'shutdown'
end

# Tell it that the lease is lost.
ops['leaseLost'] = lambda do |given|
  raise Kit::Todo, 'leaseLost'
end

# Tell it that the shard has ended.
ops['shardEnded'] = lambda do |given|
  raise Kit::Todo, 'shardEnded'
end

# Tell it that a shutdown is requested.
ops['shutdownRequested'] = lambda do |given|
  raise Kit::Todo, 'shutdownRequested'
end

# Set what the next checkpoints meet: the name of an error, or null.
ops['checkpointer'] = lambda do |given|
  raise Kit::Todo, 'checkpointer'
end

Kit.serve(ops, at_once: %w[checkpointer])
