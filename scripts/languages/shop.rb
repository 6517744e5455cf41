# A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, or look 42.
require 'json'
require 'mysql2'

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

if __FILE__ == $PROGRAM_NAME
  command, *arguments = ARGV
  transaction { |sql| send({ 'place' => :place, 'postpone' => :postpone, 'ship' => :ship, 'look' => :look }.fetch(command), sql, *arguments) }
end
