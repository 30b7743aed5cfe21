# A Pulsar client library, told what to do. Write what is still to be written; `wireproof check` says what is
# missing. Keep producers, consumers and messages as handles of the kit: what is answered stands for them in later
# ops.
require_relative 'kit'

ops = {}

# Make a client for url; with the credentials auth_method and auth_data where they are given.
ops['connect'] = lambda do |given|
  raise Kit::Todo, 'connect'
end

# Make a producer for topic, called name if there is one; answer a handle.
ops['producer'] = lambda do |given|
  raise Kit::Todo, 'producer'
end

# Send payload_hex with key and properties by producer; answer the id of the message, as a text.
ops['send'] = lambda do |given|
  raise Kit::Todo, 'send'
end

# The same without waiting; answer a handle. Leave it unsupported where the library cannot.
ops['send_async'] = lambda do |given|
  raise Kit::Todo, 'send_async'
end

# Wait for what send_async gave this handle; answer the id of the message.
ops['await'] = lambda do |given|
  raise Kit::Todo, 'await'
end

# Subscribe to topic as subscription, of the type Exclusive, Shared or Failover, with permits; answer a handle.
ops['subscribe'] = lambda do |given|
  raise Kit::Todo, 'subscribe'
end

# Wait timeout_ms for a message of consumer: ref, payload_hex, key and properties; or null when none came.
ops['receive'] = lambda do |given|
  raise Kit::Todo, 'receive'
end

# Acknowledge the message ref of consumer; with cumulative, all up to it.
ops['ack'] = lambda do |given|
  raise Kit::Todo, 'ack'
end

# Have consumer ask for what is not acknowledged.
ops['redeliver'] = lambda do |given|
  raise Kit::Todo, 'redeliver'
end

# Close producer, or consumer.
ops['close'] = lambda do |given|
  raise Kit::Todo, 'close'
end

# Close the client.
ops['disconnect'] = lambda do |given|
  raise Kit::Todo, 'disconnect'
end

Kit.serve(ops)
