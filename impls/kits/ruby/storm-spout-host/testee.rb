# A host of Storm spouts, told what to do. Write what is still to be written; `wireproof check` says what is
# missing. Tell the events emit, log, sync, error, failed and exited when they reach the collector of the host.
require_relative 'kit'

ops = {}

# Have the library run child (its arguments, with env beside the environment) with conf and context.
ops['start'] = lambda do |given|
  raise Kit::Todo, 'start'
end

# Ask it for the next tuple.
ops['next'] = lambda do |given|
  raise Kit::Todo, 'next'
end

# Tell it that the emit id was acked.
ops['ack'] = lambda do |given|
  raise Kit::Todo, 'ack'
end

# Tell it that the emit id has failed.
ops['fail'] = lambda do |given|
  raise Kit::Todo, 'fail'
end

# Set what the emits that follow get: ids.
ops['task_ids'] = lambda do |given|
  raise Kit::Todo, 'task_ids'
end

Kit.serve(ops, at_once: %w[task_ids])
