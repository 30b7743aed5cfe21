# A host of Storm bolts, told what to do. Write what is still to be written; `wireproof check` says what is missing.
# Tell the events emit, ack, fail, log, error, failed and exited when they reach the collector of the host.
require_relative 'kit'

ops = {}

# Have the library run child (its arguments, with env beside the environment) with conf and context.
ops['start'] = lambda do |given|
  raise Kit::Todo, 'start'
end

# Hand it the tuple id with comp, stream, task and tuple.
ops['tuple'] = lambda do |given|
  raise Kit::Todo, 'tuple'
end

# Set what the emits that follow get: ids.
ops['task_ids'] = lambda do |given|
  raise Kit::Todo, 'task_ids'
end

Kit.serve(ops, at_once: %w[task_ids])
