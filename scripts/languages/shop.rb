# A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, look 42, or serve 8000.
require 'base64'
require 'json'
require 'mysql2'
require 'openssl'
require 'webrick'

SECRET = ENV.fetch('SECRET') # of jobs.http and of the route of events
raise 'SECRET is empty: anybody could sign' if SECRET.empty?

def transaction(left = 9, &work)
  db = Mysql2::Client.new(host: ENV['DB_HOST'], port: ENV['DB_PORT'].to_i, username: ENV['DB_USER'], password: ENV['DB_PASSWORD'],
                          database: ENV['DB_NAME'], cast: false) # times are UTC, and stay text
  sql = lambda do |text, *values| # sends a statement; a CALL answers with rows, and then with how it went
    rows = db.query(text.gsub('?') { "'#{db.escape(values.shift.to_s)}'" }).to_a
    db.abandon_results!
    rows
  end
  db.query('BEGIN')
  answer = work.call(sql)
  db.query('COMMIT')
  answer
rescue Mysql2::Error => e # a deadlock, or a row newer than the snapshot: from the beginning
  raise unless [1213, 1020].include?(e.error_number) && left.positive?
  transaction(left - 1, &work)
ensure
  db&.close # what did not commit is undone
end

def place(sql, order, amount) # the check is there if the order is
  sql.("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
        VALUES ('order', ?, 'order-unshipped', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR)", order)
  sql.('INSERT INTO orders (id, amount) VALUES (?, ?)', order, amount)
end

def postpone(sql, order, seconds) # the server counts in UTC, whatever the zone of this process
  sql.("CALL put('order', ?, 'order-unshipped', '', UTC_TIMESTAMP(6) + INTERVAL ? SECOND, NULL, 'replace')", order, seconds)
end

def ship(sql, order)
  sql.('UPDATE orders SET shipped = TRUE WHERE id = ?', order)
  sql.("CALL cancel('order', ?, 'order-unshipped')", order)
  sql.("CALL publish('orders.shipped', ?, ?, ?)", "order/#{order}", "order-#{order}-shipped", { order: order }.to_json)
end

def look(sql, order)
  sql.("CALL pending('order', ?)", order).each { |check| puts "pending #{check['job_exec']} #{check['due_at'][0, 19]}" }
  sql.("CALL ended('order', ?)", order).each { |check| puts "ended #{check['job_exec']} #{check['outcome']}" }
end

def once(sql, consumer, id) # what is done after it in the transaction is done once for this id
  sql.('INSERT INTO event_seen (consumer, id, seen_at) VALUES (?, ?, UTC_TIMESTAMP(6))', consumer, id)
  true
rescue Mysql2::Error => e
  raise unless e.error_number == 1062
  false # it was done before
end

def check(sql, _, job) # nil settles the matter; otherwise it says when to look again
  id = job.values_at('entity_key', 'inserted_at', 'due_at', 'check_count').join(' ') # the header is not signed
  return if sql.('SELECT 1 FROM orders WHERE id = ? AND NOT shipped', job['entity_key']).empty?
  sql.("INSERT INTO mail VALUES (?, 'is late')", job['entity_key']) if once(sql, 'order-unshipped', id)
  { next_in: '1h' }
end

def event(sql, id, shipped)
  sql.("INSERT INTO mail VALUES (?, 'is on its way')", shipped['order']) if once(sql, 'mailer', id)
  nil
end

def signed(seconds, expected, given) # by somebody who has the secret, in the last minutes
  seconds.match?(/\A\d+\z/) && (Time.now.to_i - seconds.to_i).abs < 300 && OpenSSL.secure_compare(expected, given)
end

command, *arguments = ARGV
unless command == 'serve'
  transaction { |sql| send({ 'place' => :place, 'postpone' => :postpone, 'ship' => :ship, 'look' => :look }.fetch(command), sql, *arguments) }
  exit
end
server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: arguments[0].to_i, AccessLog: [])
server.mount_proc '/' do |request, response|
  body = request.body.to_s
  if request.path == '/checks/order-unshipped'
    of = request['X-Prescient-Signature'].to_s.split(',').to_h { |member| [*member.split('=', 2), ''].first(2) }
    work, id, seconds = :check, nil, of['t'].to_s
    good = signed(seconds, OpenSSL::HMAC.hexdigest('sha256', SECRET, "#{seconds}.#{body}"), of['v1'].to_s)
  else
    work, id, seconds = :event, request['webhook-id'].to_s, request['webhook-timestamp'].to_s
    good = signed(seconds, "v1,#{Base64.strict_encode64(OpenSSL::HMAC.digest('sha256', SECRET, "#{id}.#{seconds}.#{body}"))}", request['webhook-signature'].to_s)
  end
  response.status = good ? 200 : 401
  response.body = transaction { |sql| send(work, sql, id, JSON.parse(body)) }.to_json if good
end
server.start
