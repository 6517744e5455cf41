// What of prescient's tables to map with Prisma (7.10.0 with @prisma/adapter-mariadb, no engine of Rust), and what not. It was tried as app-sql,
// and each line here is run.
//
// Map of future_job what an app gives (prisma/schema.prisma) with the names as @@id: Prisma asks for a key, and the real one is the table's own.
// - Make checks by createMany alone, of one too. create reads what it wrote, and findFirst and upsert read first: they are refused (1142). A
//   create that is caught in a transaction has inserted all the same.
// - db in the place of the tx of the callback goes by a connection of its own: its check stays when the order is rolled back.
// - Dates are sent in UTC, in models and in raw queries, to the millisecond.
// - A duplicate is a P2002, 1062, and the transaction goes on. skipDuplicates is an INSERT IGNORE, which leaves a check out without an error.
// - tx.$queryRaw`CALL …` answers with the last row alone, as a list of its values under the name undefined; of $executeRaw there is a 0. That
//   does for put and cancel. Of pending it hides the other checks: list them by a connection of the driver's, outside of the transaction.
import assert from 'node:assert/strict'
import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import { Prisma, PrismaClient } from '@prisma/client'
import mariadb from 'mariadb'

const { DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME } = process.env
const options = { host: DB_HOST, port: +DB_PORT, user: DB_USER, password: DB_PASSWORD, database: DB_NAME, allowPublicKeyRetrieval: true }
const db = new PrismaClient({ adapter: new PrismaMariaDb(options) })
const driver = await mariadb.createConnection({ ...options, dateStrings: true })

const due = new Date(Date.now() + 3 * 3600e3)
const check = (key, more) => ({ entity_name: 'order', entity_key: key, job_exec: 'order-unshipped', due_at: due, ...more })
const make = (data, by = db) => by.check.createMany({ data })
const pending = async (key) => (await driver.query("CALL pending('order', ?)", [key]))[0]
const utc = (text) => new Date(text.replace(' ', 'T') + 'Z')
const refused = (number, work) => assert.rejects(work, (e) => e.meta?.driverAdapterError?.cause.originalCode === number || assert.fail(e))

await db.$transaction(async (tx) => {
  await tx.order.create({ data: { id: 1, amount: 5 } })
  await make(check('1', { payload: { a: 1 } }), tx)
})
await assert.rejects(db.$transaction(async (tx) => {
  await make(check('2'), tx)
  await make(check('3')) // the transaction was forgotten
  await tx.order.create({ data: { id: 2, amount: 0 } }) // the CHECK of the shop
}))
assert.deepEqual([(await pending('2')).length, (await pending('3')).length], [0, 1])
const [one] = await pending('1')
assert.deepEqual([utc(one.due_at), one.payload], [due, { a: 1 }])
await db.$transaction(async (tx) => {
  await refused('1062', make(check('1'), tx))
  const at = new Date('2035-01-01T12:00:00Z')
  const [{ undefined: [did, put] }] = await tx.$queryRaw`CALL put('order', '1', 'order-unshipped', '', ${at}, NULL, 'replace')`
  assert.deepEqual([did, utc(put)], ['replaced', at])
  assert.equal(await tx.$executeRaw`CALL put('order', '1', 'order-unshipped', 'second', ${at}, NULL, 'error')`, 0)
  const looked = await tx.$queryRaw`CALL pending('order', '1')` // of two
  assert.deepEqual([looked.length, looked[0].undefined[0], looked[1]], [2, 'order', { undefined: 0 }])
  const [{ undefined: [cancelled] }] = await tx.$queryRaw`CALL cancel('order', '1', NULL)`
  assert.equal(cancelled, 2)
})
await db.$transaction(async (tx) => {
  await refused('1142', tx.check.create({ data: check('4') }))
})
assert.equal((await pending('4')).length, 1)
await refused('1142', db.check.create({ data: check('5') }))
assert.equal((await pending('5')).length, 0)
await db.check.createMany({ data: [check('3'), check('6')], skipDuplicates: true })
assert.equal((await pending('6')).length, 1)
const where = { entity_name_entity_key_job_exec_tag: { ...check('3'), tag: '', due_at: undefined } }
await refused('1142', db.check.upsert({ where, create: check('3'), update: { due_at: due } }))
await refused('1142', db.check.findFirst({ where: { entity_key: '3' } }))
console.log('Prisma', Prisma.prismaVersion.client)
await driver.end()
await db.$disconnect()
