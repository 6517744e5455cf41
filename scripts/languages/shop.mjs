// A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, or look 42.
import mysql from 'mysql2/promise'

const { DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME } = process.env
const db = mysql.createPool({ host: DB_HOST, port: DB_PORT, user: DB_USER, password: DB_PASSWORD, database: DB_NAME,
  dateStrings: true }) // times are UTC: as a Date they would be read in the zone of this process

export async function transaction(work) {
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

export async function once(c, consumer, id) { // what is done after it in the transaction is done once for this id
  try {
    await c.execute('INSERT INTO event_seen (consumer, id, seen_at) VALUES (?, ?, UTC_TIMESTAMP(6))', [consumer, id])
    return true
  } catch (e) {
    if (e.errno !== 1062) throw e
    return false // it was done before
  }
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const [command, ...given] = process.argv.slice(2)
  transaction((c) => commands[command](c, ...given)).finally(() => db.end())
}
