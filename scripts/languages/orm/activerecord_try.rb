# What of prescient's tables to map with Rails' ActiveRecord (6.1.7.10, mysql2 0.5.3), and what not. It was tried as app-sql, and each line here
# is run.
#
# ActiveRecord sees of future_job the columns that app-sql may insert, and no primary key: create! is all to do with such a model.
# - Say attribute :payload, :json. On MariaDB the column is text to ActiveRecord, and a Hash would be refused by its CHECK (4025).
# - find_or_create_by and where are a SELECT, upsert, insert and insert_all an ON DUPLICATE KEY UPDATE: all are refused (1142). insert! is none.
# - A duplicate is a RecordNotUnique, 1062, and the transaction goes on.
# - Times are sent in UTC, among the values of a CALL, too.
# - To look, to replace and to cancel, send the CALLs by select_all, in the transaction. After execute the connection is out of sync.
# - ActiveRecord::Rollback in an inner transaction rolls nothing back without requires_new: true: the check stays.
require 'active_record'

ActiveRecord::Base.establish_connection(adapter: 'mysql2', host: ENV['DB_HOST'], port: ENV['DB_PORT'].to_i, username: ENV['DB_USER'],
                                        password: ENV['DB_PASSWORD'], database: ENV['DB_NAME'])
class Order < ActiveRecord::Base; end
class Check < ActiveRecord::Base
  self.table_name = 'future_job'
  attribute :payload, :json
end
class Unsaid < ActiveRecord::Base
  self.table_name = 'future_job'
end

DUE = Time.at(Time.now.to_i + 3 * 3600)

def of(key, **more)
  { entity_name: 'order', entity_key: key, job_exec: 'order-unshipped', due_at: DUE, **more }
end

def call(text, *values)
  Check.connection.select_all(Check.sanitize_sql([text, *values])).to_a
end

def pending(key)
  call("CALL pending('order', ?)", key)
end

def holds(is, what)
  raise "it is not so that #{what}" unless is
end

def refused(number)
  yield
  raise "it is not refused by #{number}"
rescue ActiveRecord::StatementInvalid => e
  raise unless e.cause.error_number == number
end

Check.transaction do
  Order.create!(id: 1, amount: 5)
  Check.create!(of('1', payload: { a: 1 }))
end
begin
  Check.transaction do
    Check.create!(of('2'))
    Order.create!(id: 2, amount: 0) # the CHECK of the shop
  end
rescue ActiveRecord::StatementInvalid
  holds pending('2').empty?, 'nothing stays of what was rolled back'
end
one = pending('1')[0]
holds one['due_at'] == DUE && JSON.parse(one['payload']) == { 'a' => 1 }, 'the check is as it was given'
Check.transaction do
  refused(1062) { Check.create!(of('1')) }
  at = Time.new(2035, 1, 1, 12, 0, 0, '+05:00')
  put = call("CALL put('order', '1', 'order-unshipped', '', ?, NULL, 'replace')", at)[0]
  holds put['did'] == 'replaced' && put['due_at'] == at, 'put replaces'
  holds call("CALL cancel('order', '1', NULL)")[0]['cancelled'] == 1 && pending('1').empty?, 'cancel cancels'
end
Check.transaction { Check.transaction { Check.create!(of('3')); raise ActiveRecord::Rollback } }
holds pending('3').size == 1, 'an inner Rollback rolls nothing back'
Check.transaction { Check.transaction(requires_new: true) { Check.create!(of('4')); raise ActiveRecord::Rollback } }
holds pending('4').empty?, 'with requires_new it does'
Check.insert!(of('5'))
refused(4025) { Unsaid.create!(of('6', payload: { a: 1 })) } if Check.connection.mariadb?
refused(1142) { Check.insert(of('6')) }
refused(1142) { Check.upsert(of('6')) }
refused(1142) { Check.find_or_create_by!(of('6')) }
Check.connection.execute("CALL put('order', '7', 'order-unshipped', '', UTC_TIMESTAMP(6), NULL, 'keep')")
begin
  pending('7')
  raise 'execute reads all of a CALL'
rescue ActiveRecord::StatementInvalid => e
  holds e.message.include?('out of sync'), 'execute leaves the end of a CALL unread'
end
puts "ActiveRecord #{ActiveRecord.version}"
