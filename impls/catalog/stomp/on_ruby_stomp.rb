# A program around the stomp gem: told by JSON lines, it calls the library.
require 'stomp'
require_relative '../../kits/ruby/kit'

PATIENCE = 5

# The library, and what the suite calls things.
class Testee
  def initialize
    @counter = 0
    @connection = @listener = nil
    reset('not connected')
  end

  def reset(why)
    @refs = Kit::Handles.new
    @subs = {}
    @inbox = Kit::Inbox.new
    @inbox.over(why) if why
  end

  def live
    @inbox.live
    @connection
  end

  # The library gives one frame after the other to whoever asks.
  def listen(connection, inbox)
    loop do
      frame = connection.receive
      break inbox.over('the connection has ended') if frame.nil? || frame.command.nil?

      case frame.command
      when 'MESSAGE' then inbox.put(frame)
      when 'RECEIPT' then inbox.mark(frame.headers['receipt-id'])
      when 'ERROR'
        inbox.over("ERROR: #{frame.headers['message']}")
        break close(connection)
      end
    end
  rescue StandardError => e
    inbox.over("#{e.class}: #{e.message}")
    close(connection)
  end

  # The library leaves it to its user to close after an ERROR.
  def close(connection)
    connection.disconnect
  rescue StandardError
    nil
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
    @inbox.wait_for(receipt, PATIENCE) if receipt
    true
  end

  def connect(given)
    reset('not connected')
    host, port = Kit.place(given['address'])
    first = { 'accept-version' => given['versions'].join(','), 'host' => given['host'] }
    first['heart-beat'] = given['heart_beat'].join(',') if given['heart_beat']&.any?(&:positive?)
    login = { host: host, port: port, login: given['login'] || '', passcode: given['passcode'] || '' }
    @connection = Stomp::Connection.new(
      hosts: [login], reliable: false, connect_headers: first, connread_timeout: PATIENCE, start_timeout: PATIENCE,
      closed_check: true, logger: Stomp::NullLogger.new
    )
    frame = @connection.connection_frame
    raise "ERROR: #{frame.headers['message']}" if frame.command != 'CONNECTED'

    reset(nil)
    @listener = Thread.new(@connection, @inbox) { |connection, inbox| listen(connection, inbox) }
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
    message = @refs[given['ref']]
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
    raise Kit::Unsupported if live.protocol == '1.0'

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
    frame = @inbox.take(given['timeout_ms'] / 1000.0)
    return nil if frame.nil?

    found = frame.headers.to_h { |name, value| [Kit.text(name), Kit.text(value.is_a?(Array) ? value.first : value)] }
    { 'ref' => @refs.keep(frame), 'headers' => found, 'body_hex' => (frame.body || '').unpack1('H*'), 'sub' => found['subscription'] }
  end

  def disconnect(_given)
    @listener&.kill
    @listener&.join
    @connection.disconnect if @connection && !@inbox.why
    @inbox.over('disconnected')
    true
  end
end

testee = Testee.new
ops = %w[connect send subscribe unsubscribe ack nack begin commit abort receive disconnect]
Kit.serve(ops.to_h { |name| [name, testee.method(name)] })
