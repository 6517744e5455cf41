// A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, look 42, or serve 8000.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import mysql from 'mysql2/promise'

const { DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME, SECRET } = process.env // SECRET is that of jobs.http and of the route of events
if (!SECRET) throw new Error('SECRET is empty: anybody could sign')
const db = mysql.createPool({ host: DB_HOST, port: DB_PORT, user: DB_USER, password: DB_PASSWORD, database: DB_NAME,
  dateStrings: true }) // times are UTC: as a Date they would be read in the zone of this process

async function transaction(work) {
  for (let left = 9; ; left--) {
    const c = await db.getConnection()
    try {
      await c.beginTransaction()
      const answer = await work(c)
      await c.commit()
      return answer
    } catch (e) { // a deadlock, or a row newer than the snapshot: from the beginning
      await c.rollback()
      if (![1213, 1020].includes(e.errno) || !left) throw e
    } finally {
      c.release()
    }
  }
}

const commands = {
  async place(c, order, amount) { // the check is there if the order is
    await c.execute(`INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
                     VALUES ('order', ?, 'order-unshipped', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR)`, [order])
    await c.execute('INSERT INTO orders (id, amount) VALUES (?, ?)', [order, amount])
  },
  async postpone(c, order, seconds) { // the server counts in UTC, whatever the zone of this process
    await c.execute("CALL put('order', ?, 'order-unshipped', '', UTC_TIMESTAMP(6) + INTERVAL ? SECOND, NULL, 'replace')", [order, seconds])
  },
  async ship(c, order) {
    await c.execute('UPDATE orders SET shipped = TRUE WHERE id = ?', [order])
    await c.execute("CALL cancel('order', ?, 'order-unshipped')", [order])
    await c.execute("CALL publish('orders.shipped', ?, ?, ?)", [`order/${order}`, `order-${order}-shipped`, JSON.stringify({ order })])
  },
  async look(c, order) { // a CALL answers with its rows, and then with how it went
    for (const [which, column] of [['pending', 'due_at'], ['ended', 'outcome']]) {
      const [[checks]] = await c.execute(`CALL ${which}('order', ?)`, [order])
      for (const check of checks) console.log(which, check.job_exec, check[column].slice(0, 19))
    }
  },
}

async function once(c, consumer, id) { // what is done after it in the transaction is done once for this id
  try {
    await c.execute('INSERT INTO event_seen (consumer, id, seen_at) VALUES (?, ?, UTC_TIMESTAMP(6))', [consumer, id])
    return true
  } catch (e) {
    if (e.errno !== 1062) throw e
    return false // it was done before
  }
}

async function check(c, job) { // nothing settles the matter; otherwise it says when to look again
  const id = [job.entity_key, job.inserted_at, job.due_at, job.check_count].join(' ') // the header is not signed
  const [late] = await c.execute('SELECT 1 FROM orders WHERE id = ? AND NOT shipped', [job.entity_key])
  if (!late.length) return
  if (await once(c, 'order-unshipped', id)) await c.execute("INSERT INTO mail VALUES (?, 'is late')", [job.entity_key])
  return { next_in: '1h' }
}

async function event(c, id, shipped) {
  if (await once(c, 'mailer', id)) await c.execute("INSERT INTO mail VALUES (?, 'is on its way')", [shipped.order])
}

function signed(before, body, seconds, given, encoding) { // by somebody who has the secret, in the last minutes
  const mac = Buffer.from(createHmac('sha256', SECRET).update(before).update(body).digest(encoding)), its = Buffer.from(given)
  return its.length === mac.length && timingSafeEqual(its, mac) && /^\d+$/.test(seconds) && Math.abs(Date.now() / 1000 - seconds) < 300
}

const server = createServer(async (request, response) => {
  try {
    const body = Buffer.concat(await request.toArray()), header = (name) => request.headers[name] ?? '' // throws where the caller leaves
    let good, work
    if (request.url === '/checks/order-unshipped') {
      const { t = '', v1 = '' } = Object.fromEntries(header('x-prescient-signature').split(',').map((member) => member.split('=')))
      good = signed(`${t}.`, body, t, v1, 'hex')
      work = (c) => check(c, JSON.parse(body))
    } else {
      const id = header('webhook-id'), seconds = header('webhook-timestamp')
      good = signed(`${id}.${seconds}.`, body, seconds, header('webhook-signature').replace(/^v1,/, ''), 'base64')
      work = (c) => event(c, id, JSON.parse(body))
    }
    const answer = good ? JSON.stringify(await transaction(work) ?? null) : ''
    response.writeHead(good ? 200 : 401).end(answer)
  } catch (e) { // it is called again
    console.error(e)
    response.writeHead(500).end()
  }
})

const [command, ...given] = process.argv.slice(2)
if (command === 'serve') server.listen(given[0], '127.0.0.1')
else transaction((c) => commands[command](c, ...given)).finally(() => db.end())
