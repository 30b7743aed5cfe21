# A STOMP client library, told what to do. Write what is still to be written; `wireproof check` says what is
# missing. Give what the library hears to an inbox of the kit: messages, receipts, and why the connection is over.
require_relative 'kit'

ops = {}

# Open a connection to address (HOST:PORT), offering versions, host, login, passcode, heart_beat; answer when the
# library is connected.
ops['connect'] = lambda do |given|
  raise Kit::Todo, 'connect'
end

# Send the octets of body_hex to destination with headers, in transaction if there is one; with receipt, answer when
# the RECEIPT has come.
ops['send'] = lambda do |given|
  raise Kit::Todo, 'send'
end

# Subscribe to destination in the mode ack; later ops call the subscription sub.
ops['subscribe'] = lambda do |given|
  raise Kit::Todo, 'subscribe'
end

# End the subscription sub.
ops['unsubscribe'] = lambda do |given|
  raise Kit::Todo, 'unsubscribe'
end

# Acknowledge the message that receive gave this ref, in transaction if there is one.
ops['ack'] = lambda do |given|
  raise Kit::Todo, 'ack'
end

# Refuse the message that receive gave this ref.
ops['nack'] = lambda do |given|
  raise Kit::Todo, 'nack'
end

# Begin a transaction that is called transaction.
ops['begin'] = lambda do |given|
  raise Kit::Todo, 'begin'
end

# Commit that transaction.
ops['commit'] = lambda do |given|
  raise Kit::Todo, 'commit'
end

# Abort that transaction.
ops['abort'] = lambda do |given|
  raise Kit::Todo, 'abort'
end

# Wait timeout_ms for a message of any subscription: ref, headers, body_hex and sub; or null when none came.
ops['receive'] = lambda do |given|
  raise Kit::Todo, 'receive'
end

# End the session as the library does that.
ops['disconnect'] = lambda do |given|
  raise Kit::Todo, 'disconnect'
end

Kit.serve(ops)
