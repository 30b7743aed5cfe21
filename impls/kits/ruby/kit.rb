# What every testee in Ruby does, whatever library it is around. Copy this file beside your testee.rb.
#
# Ruby 2.7 or newer, standard library only. The contract is docs/testees.md of Wireproof:
#
#   Kit.serve('connect' => ->(given) { ... }, ...)   JSON objects on stdin, one a line; each is answered on stdout
#   Kit.serve_filter { |octets| ... }                lines of hex on stdin, each answered by hex or by ERR and why
#   Kit.note, Kit.steps_of_record, Kit.run, ...      for user code that a library calls: bolts, spouts, processors
require 'json'

module Kit
  # Raise this for what the library does not offer: nothing was sent then, and nobody asks for it again.
  class Unsupported < StandardError; end

  # Stands in a template for what is still to be written.
  class Todo < StandardError
    def initialize(what)
      super("still to be written in testee.rb: #{what}")
    end
  end

  module_function

  # --- the loop ------------------------------------------------------------------------------------------------------

  # Keep the real stdout for answers; whatever else is printed goes to stderr.
  def begin_loop
    @out = $stdout.dup
    @out.sync = true
    @lock = Mutex.new
    $stdout.reopen($stderr)
    $stdin.binmode
  end

  def say(line)
    @lock.synchronize { @out.write("#{line}\n") }
  end

  # Tell what happened without being asked for, such as a checkpoint that a child wants. Any thread may.
  def event(name, members = {})
    say(JSON.generate({ 'event' => name }.merge(members)))
  end

  # Carry out what is said on stdin until it ends, one op after the other; those in `at_once` do not wait for one that
  # is still going on.
  def serve(ops, at_once: [])
    begin_loop
    waiting = Queue.new
    Thread.new { loop { carry_out(ops, waiting.pop) } } unless at_once.empty?
    $stdin.each_line do |line|
      said = read(line)
      if said.nil?
        warn "no JSON object with an op: #{line[0, 100].inspect}"
      elsif at_once.empty? || at_once.include?(said['op'])
        carry_out(ops, said)
      else
        waiting << said
      end
    end
    exit!(0) # threads of the library may wait for somebody who is gone
  end

  def read(line)
    said = JSON.parse(line.force_encoding('UTF-8'), max_nesting: false)
    said if said.is_a?(Hash) && said['op'].is_a?(String)
  rescue JSON::ParserError, EncodingError
    nil
  end

  def carry_out(ops, said)
    begin
      raise Unsupported unless ops.key?(said['op'])

      answer = JSON.generate({ 'id' => said['id'], 'ok' => ops[said['op']].call(said) })
    rescue Unsupported
      answer = JSON.generate({ 'id' => said['id'], 'error' => 'unsupported' })
    rescue StandardError, SystemStackError, NotImplementedError => e
      answer = JSON.generate({ 'id' => said['id'], 'error' => text("#{e.class}: #{e.message}") })
    end
    say(answer)
  end

  # Answer each line of hex by the hex of what the block makes of its octets, or by ERR and why it failed.
  def serve_filter
    begin_loop
    $stdin.each_line do |line|
      begin
        hex = line.strip
        raise ArgumentError, 'no hex' unless hex.match?(/\A(?:\h\h)*\z/)

        answer = yield([hex].pack('H*')).unpack1('H*')
      rescue StandardError, SystemStackError => e
        answer = text("ERR #{e.class} #{e.message}").tr("\r\n", '  ')[0, 300]
      end
      say(answer)
    end
    exit!(0)
  end

  # Host and port of HOST:PORT.
  def place(address)
    host, _, port = address.rpartition(':')
    [host.delete('[]'), port.to_i]
  end

  # A text that JSON can carry.
  def text(value)
    value.to_s.dup.force_encoding('UTF-8').scrub
  end

  # --- what a testee has to remember ---------------------------------------------------------------------------------

  # Things by the texts that the suite calls them by.
  class Handles
    def initialize
      @things = {}
      @count = 0
    end

    # A new handle.
    def keep(thing, kind = '')
      handle = "#{kind}#{@count += 1}"
      @things[handle] = thing
      handle
    end

    def [](handle)
      @things.fetch(handle) { raise KeyError, "there is no #{handle.inspect}" }
    end

    # What it stood for; it is no handle any more.
    def drop(handle)
      found = self[handle]
      @things.delete(handle)
      found
    end
  end

  # What a library's thread has heard on one connection, for the thread that carries out ops: messages that wait for
  # `receive`, marks such as receipts, and why the connection is over.
  class Inbox
    attr_reader :why

    def initialize
      @messages = []
      @marks = {}
      @why = nil
      @lock = Mutex.new
      @changed = ConditionVariable.new
    end

    # A message has come.
    def put(message)
      tell { @messages << message }
    end

    # Something that is waited for has come, such as a receipt.
    def mark(name)
      tell { @marks[name] = true }
    end

    # The connection is of no more use. The first reason counts.
    def over(why)
      tell { @why ||= why }
    end

    # Raise when the connection is over.
    def live
      raise @why if @why
    end

    # The next message, nil when there is none in time.
    def take(seconds)
      wait(seconds) { @messages.shift }
    end

    # Wait for a mark. Raises when it does not come.
    def wait_for(name, seconds)
      raise "#{name} did not come" unless wait(seconds) { @marks[name] }
    end

    private

    def tell
      @lock.synchronize do
        yield
        @changed.broadcast
      end
    end

    def wait(seconds)
      till = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      @lock.synchronize do
        loop do
          found = yield
          return found if found
          raise @why if @why

          left = till - Process.clock_gettime(Process::CLOCK_MONOTONIC)
          return nil if left <= 0

          @changed.wait(@lock, left)
        end
      end
    end
  end

  module_function

  # --- user code that a library calls --------------------------------------------------------------------------------

  # Note down what user code saw, when a callback begins: before its first step, and before any answer.
  def note(call, seen = {})
    name = ENV['WIREPROOF_OBSERVATIONS']
    File.open(name, 'a') { |file| file.write("#{JSON.generate({ 'call' => call }.merge(seen))}\n") } if name
  end

  # The octets of a record, for libraries that leave its base64 to user code.
  def decoded(data)
    (data || '').unpack1('m')
  end

  # The steps that a record of KCL carries; none for an ordinary one.
  def steps_of_record(data)
    value = JSON.parse(data.dup.force_encoding('UTF-8'))
    steps = value.is_a?(Hash) ? value['wireproof'] : nil
    steps.is_a?(Array) ? steps.grep(Hash) : []
  rescue JSON::ParserError, EncodingError
    []
  end

  # The steps that a tuple of Storm carries; nil for an ordinary one, which is to be acked.
  def steps_of_tuple(values)
    values.length == 2 && values[0] == 'wireproof' && values[1].is_a?(Array) ? values[1].grep(Hash) : nil
  end

  # The steps that conf has for a spout's next, ack or fail; `nexts` were next before it.
  def steps_of_command(conf, command, nexts = 0)
    return (conf['wireproof.script'] || [])[nexts] || [] if command == 'next'

    conf["wireproof.on_#{command}"] || []
  end

  # Do them, in order. `ops` are those that the library does: checkpoint, emit, ack, fail, log. Raises what they raise,
  # and what the step `raise` asks for: the later steps are dropped then.
  def run(steps, ops)
    steps.each do |step|
      op = step['op']
      if ops.key?(op) then ops[op].call(step)
      elsif op == 'print' then $stdout.print(step['text'])
      elsif op == 'stderr' then $stderr.print(step['text'])
      elsif op == 'sleep' then sleep(step.fetch('ms', 0) / 1000.0)
      elsif op == 'raise' then raise 'told to raise'
      else warn "unknown step #{op.inspect}"
      end
    end
    $stdout.flush
  end
end
