# A MessagePack-RPC client library, told what to do. Write what is still to be written; `wireproof check` says what
# is missing. Params and results travel as MessagePack in hex.
require_relative 'kit'

ops = {}

# Open a connection to address (HOST:PORT).
ops['connect'] = lambda do |given|
  raise Kit::Todo, 'connect'
end

# Call method with the array params_hex; answer result_hex, or error_hex when the call has failed.
ops['call'] = lambda do |given|
  raise Kit::Todo, 'call'
end

# The same without waiting; answer a handle. Leave it unsupported where the library cannot.
ops['call_async'] = lambda do |given|
  raise Kit::Todo, 'call_async'
end

# Wait for the call that has this handle; answer as call does.
ops['await'] = lambda do |given|
  raise Kit::Todo, 'await'
end

# Send the notification method with params_hex.
ops['notify'] = lambda do |given|
  raise Kit::Todo, 'notify'
end

# Close the connection.
ops['disconnect'] = lambda do |given|
  raise Kit::Todo, 'disconnect'
end

Kit.serve(ops)
