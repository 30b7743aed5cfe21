# A program around the stomp gem: told by JSON lines, it calls the library.
require 'json'
require 'stomp'

PATIENCE = 5
class Unsupported < StandardError; end

# The library, and what the suite calls things.
class Testee
  def initialize
    @counter = 0
    @connection = @listener = nil
    reset('not connected')
  end

  def reset(why)
    @why = why
    @refs = {}
    @subs = {}
    @receipts = {}
    @inbox = []
    @seen = 0
    @lock = Mutex.new
    @changed = ConditionVariable.new
  end

  def over(why)
    @lock.synchronize do
      @why ||= why
      @changed.broadcast
    end
  end

  def live
    raise @why if @why

    @connection
  end

  # The library gives one frame after the other to whoever asks.
  def listen(connection)
    loop do
      frame = connection.receive
      break over('the connection has ended') if frame.nil? || frame.command.nil?

      @lock.synchronize do
        case frame.command
        when 'MESSAGE' then @inbox << frame
        when 'RECEIPT' then @receipts[frame.headers['receipt-id']] = true
        when 'ERROR' then @why ||= "ERROR: #{frame.headers['message']}"
        end
        @changed.broadcast
      end
      next unless frame.command == 'ERROR'

      close(connection)
      break
    end
  rescue StandardError => e
    over("#{e.class}: #{e.message}")
    close(connection)
  end

  # The library leaves it to its user to close after an ERROR.
  def close(connection)
    connection.disconnect
  rescue StandardError
    nil
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

  # Headers as the library wants them, and the receipt that is asked for.
  def headers(given, more = {})
    found = more.dup
    receipt = given['receipt']
    receipt = "r-#{@counter += 1}" if receipt == true
    found['receipt'] = receipt if receipt
    found['transaction'] = given['transaction'] if given['transaction']
    [found, receipt]
  end

  def done(receipt)
    raise 'no receipt came' if receipt && !wait(PATIENCE) { @receipts[receipt] }

    true
  end

  def connect(given)
    reset('not connected')
    host, port = given['address'].split(':')
    first = { 'accept-version' => given['versions'].join(','), 'host' => given['host'] }
    first['heart-beat'] = given['heart_beat'].join(',') if given['heart_beat']&.any?(&:positive?)
    login = { host: host, port: port.to_i, login: given['login'] || '', passcode: given['passcode'] || '' }
    @connection = Stomp::Connection.new(
      hosts: [login], reliable: false, connect_headers: first, connread_timeout: PATIENCE, start_timeout: PATIENCE,
      closed_check: true, logger: Stomp::NullLogger.new
    )
    frame = @connection.connection_frame
    raise "ERROR: #{frame.headers['message']}" if frame.command != 'CONNECTED'

    @why = nil
    @listener = Thread.new(@connection) { |connection| listen(connection) }
    { 'version' => @connection.protocol }
  end

  def send(given)
    found, receipt = headers(given, given['headers'] || {})
    live.publish(given['destination'], [given['body_hex']].pack('H*'), found)
    done(receipt)
  end

  def subscribe(given)
    found, receipt = headers(given, 'ack' => given['ack'] || 'auto')
    @subs[given['sub']] = given['destination']
    live.subscribe(given['destination'], found, given['sub'])
    done(receipt)
  end

  def unsubscribe(given)
    found, receipt = headers(given)
    live.unsubscribe(@subs[given['sub']], found, given['sub'])
    done(receipt)
  end

  def settle(given, what)
    message = @refs.fetch(given['ref'])
    found, receipt = headers(given)
    found[:subscription] = message.headers['subscription'] if live.protocol == '1.1'
    id = message.headers[live.protocol == '1.2' ? 'ack' : 'message-id']
    live.public_send(what, id, found)
    done(receipt)
  end

  def ack(given)
    settle(given, :ack)
  end

  def nack(given)
    raise Unsupported if live.protocol == '1.0'

    settle(given, :nack)
  end

  def of_transaction(given, what)
    found, receipt = headers(given)
    found.delete('transaction')
    live.public_send(what, given['transaction'], found)
    done(receipt)
  end

  def begin(given)
    of_transaction(given, :begin)
  end

  def commit(given)
    of_transaction(given, :commit)
  end

  def abort(given)
    of_transaction(given, :abort)
  end

  def receive(given)
    frame = wait(given['timeout_ms'] / 1000.0) { @inbox.shift }
    return nil if frame.nil?

    ref = (@seen += 1).to_s
    @refs[ref] = frame
    found = frame.headers.to_h { |name, value| [text(name), text(value.is_a?(Array) ? value.first : value)] }
    { 'ref' => ref, 'headers' => found, 'body_hex' => (frame.body || '').unpack1('H*'), 'sub' => found['subscription'] }
  end

  def text(value)
    value.to_s.dup.force_encoding('UTF-8').scrub
  end

  def disconnect(_given)
    @listener&.kill
    @listener&.join
    @connection.disconnect if @connection && !@why
    over('disconnected')
    true
  end
end

OPS = %w[connect send subscribe unsubscribe ack nack begin commit abort receive disconnect].freeze
testee = Testee.new
$stdout.sync = true
$stdin.each_line do |line|
  said = JSON.parse(line)
  begin
    raise Unsupported unless OPS.include?(said['op'])

    answer = { 'ok' => testee.public_send(said['op'], said) }
  rescue Unsupported
    answer = { 'error' => 'unsupported' }
  rescue StandardError => e
    answer = { 'error' => "#{e.class}: #{e.message}".scrub }
  end
  puts JSON.generate({ 'id' => said['id'] }.merge(answer))
end
