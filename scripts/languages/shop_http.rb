# What the worker calls, with a check and with an event: ruby shop_http.rb 8000
require 'base64'
require 'openssl'
require 'webrick'
require_relative 'shop'

SECRET = ENV.fetch('SECRET') # of jobs.http and of the route of events
raise 'SECRET is empty: anybody could sign' if SECRET.empty?

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

server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: ARGV[0].to_i, AccessLog: [])
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
