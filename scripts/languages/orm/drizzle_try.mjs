// What of prescient's tables to map with Drizzle (0.45.4, mysql2 3.24.6), and what not. It was tried as app-sql, and each line here is run.
//
// Map of future_job what an app gives, and no column more: Drizzle writes each that is mapped, as DEFAULT where it has no value, and one that an
// app may not write is refused (1143).
// - An insert by db instead of the tx of the callback goes by a connection of its own: its check stays when the order is rolled back.
// - datetime columns are sent in UTC, to the millisecond. A Date in a sql`` is written in the zone of the process, and is hours off: give it as
//   sql.param(date, column), as SQL, or as text in UTC.
// - select is refused (1142), and so is onDuplicateKeyUpdate. ignore() is an INSERT IGNORE, which leaves a check out without an error. A duplicate
//   is 1062 in the cause of a DrizzleQueryError, and the transaction goes on.
// - To look, to replace and to cancel, tx.execute(sql`CALL …`): the first answer is a list, whose first is the rows, with times as text in UTC.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/mysql2'
import { boolean, datetime, decimal, int, json, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import mysql from 'mysql2/promise'

const { DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME } = process.env
const pool = mysql.createPool({ host: DB_HOST, port: DB_PORT, user: DB_USER, password: DB_PASSWORD, database: DB_NAME })
const db = drizzle(pool)
const orders = mysqlTable('orders', { id: int().primaryKey(), amount: decimal({ precision: 10, scale: 2 }).notNull(), shipped: boolean().notNull().default(false) })
const given = { entity_name: varchar({ length: 64 }).notNull(), entity_key: varchar({ length: 128 }).notNull(), job_exec: varchar({ length: 64 }).notNull(),
  tag: varchar({ length: 64 }).notNull().default(''), due_at: datetime({ fsp: 6 }).notNull(), payload: json(), expires_at: datetime({ fsp: 6 }) }
const checks = mysqlTable('future_job', given)
const whole = mysqlTable('future_job', { ...given, next_check_at: datetime('next_check_at') })

const due = new Date(Date.now() + 3 * 3600e3)
const check = (key, more) => ({ entity_name: 'order', entity_key: key, job_exec: 'order-unshipped', due_at: due, ...more })
const call = async (text, by = db) => (await by.execute(text))[0][0]
const pending = (key, by) => call(sql`CALL pending('order', ${key})`, by)
const put = (at, by) => call(sql`CALL put('order', '1', 'order-unshipped', '', ${at}, NULL, 'replace')`, by)
const utc = (text) => new Date(text.replace(' ', 'T') + 'Z')
const refused = (number, work) => assert.rejects(work, (e) => e.cause?.errno === number || assert.fail(e))

await db.transaction(async (tx) => {
  await tx.insert(orders).values({ id: 1, amount: '5' })
  await tx.insert(checks).values(check('1', { payload: { a: 1 } }))
})
await assert.rejects(db.transaction(async (tx) => {
  await tx.insert(checks).values(check('2'))
  await db.insert(checks).values(check('3')) // the transaction was forgotten
  await tx.insert(orders).values({ id: 2, amount: '0' }) // the CHECK of the shop
}))
assert.deepEqual([(await pending('2')).length, (await pending('3')).length], [0, 1])
const [one] = await pending('1')
assert.deepEqual([utc(one.due_at), one.payload], [due, { a: 1 }])
await db.transaction(async (tx) => {
  await refused(1062, tx.insert(checks).values(check('1')))
  const [later] = await put(sql`UTC_TIMESTAMP(6) + INTERVAL 1 HOUR`, tx)
  assert.equal(later.did, 'replaced')
  const at = new Date('2035-01-01T12:00:00Z')
  const [off] = await put(at, tx)
  assert.equal(at - utc(off.due_at), at.getTimezoneOffset() * 60e3)
  const [right] = await put(sql.param(at, checks.due_at), tx)
  assert.deepEqual(utc(right.due_at), at)
  const [{ cancelled }] = await call(sql`CALL cancel('order', '1', NULL)`, tx)
  assert.deepEqual([cancelled, await pending('1', tx)], [1, []])
})
await db.insert(checks).ignore().values([check('3'), check('4')])
assert.equal((await pending('4')).length, 1)
await refused(1143, db.insert(whole).values(check('5')))
await refused(1142, db.insert(checks).values(check('3')).onDuplicateKeyUpdate({ set: { due_at: due } }))
await refused(1142, db.select().from(checks).where(eq(checks.entity_key, '3')))
console.log('Drizzle', JSON.parse(readFileSync(new URL('node_modules/drizzle-orm/package.json', import.meta.url))).version)
await pool.end()
