-- Neovim as a client of MessagePack-RPC, told what to do by lines of JSON on the file descriptor 3.
local channel
local function hex(octets)
  return (octets:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end
local function octets(text)
  return (text:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end))
end
local function params(asked)
  local found = vim.mpack.decode(octets(asked.params_hex))
  return unpack(found, 1, #found)
end
local ops = {
  connect = function(asked) channel = vim.fn.sockconnect("tcp", asked.address, { rpc = true }) end,
  call = function(asked)
    return { result_hex = hex(vim.mpack.encode(vim.rpcrequest(channel, asked.method, params(asked)))) }
  end,
  notify = function(asked) vim.rpcnotify(channel, asked.method, params(asked)) end,
  disconnect = function() vim.fn.chanclose(channel) end,
}
for line in io.lines("/dev/fd/3") do
  local asked = vim.json.decode(line)
  local answer = { id = asked.id }
  if ops[asked.op] then
    local well, found = pcall(ops[asked.op], asked)
    if well then answer.ok = found or vim.empty_dict() else answer.error = tostring(found) end
  else
    answer.error = "unsupported"
  end
  io.stdout:write(vim.json.encode(answer), "\n")
  io.stdout:flush()
end
vim.cmd("qall!")
