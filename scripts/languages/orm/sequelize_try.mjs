// What of prescient's tables to map with Sequelize (6.37.8, mysql2 3.24.6), and what not. It was tried as app-sql, and each line here is run.
//
// Map of future_job what an app gives, with timestamps: false and the names as primary keys: without one Sequelize adds an id, which is refused.
// - A create without { transaction } goes by a connection of its own: its check stays when the order is rolled back.
// - Fields of a model are sent in UTC. A Date among the replacements of a query is written in the zone of the process, and is hours off: give
//   the time as SQL, or as text in UTC.
// - findOrCreate reads, and upsert is an ON DUPLICATE KEY UPDATE: both are refused (1142). bulkCreate with ignoreDuplicates is an INSERT IGNORE,
//   which leaves a check out without an error. A duplicate is a UniqueConstraintError, 1062, and the transaction goes on.
// - To look, to replace and to cancel, query the CALLs with { transaction }; they answer with their rows.
import assert from 'node:assert/strict'
import { DataTypes, Sequelize } from 'sequelize'

const { DB_HOST, DB_PORT, DB_USER, DB_PASSWORD, DB_NAME } = process.env
const db = new Sequelize(DB_NAME, DB_USER, DB_PASSWORD, { host: DB_HOST, port: DB_PORT, dialect: 'mysql', logging: false })
const bare = { timestamps: false, freezeTableName: true }
const name = (length) => ({ type: DataTypes.STRING(length), primaryKey: true })
const Order = db.define('orders', { id: { type: DataTypes.INTEGER, primaryKey: true }, amount: DataTypes.DECIMAL(10, 2) }, bare)
const Check = db.define('future_job', { entity_name: name(64), entity_key: name(128), job_exec: name(64), tag: { ...name(64), defaultValue: '' },
  due_at: DataTypes.DATE(6), payload: DataTypes.JSON, expires_at: DataTypes.DATE(6) }, bare)
const WithId = db.define('future_job_with_id', { entity_name: DataTypes.STRING, entity_key: DataTypes.STRING, job_exec: DataTypes.STRING, due_at: DataTypes.DATE(6) },
  { timestamps: false, tableName: 'future_job' })

const due = new Date(Date.now() + 3 * 3600e3)
const check = (key, more) => ({ entity_name: 'order', entity_key: key, job_exec: 'order-unshipped', due_at: due, ...more })
const pending = (key, transaction) => db.query("CALL pending('order', ?)", { replacements: [key], transaction })
const refused = (number, work) => assert.rejects(work, (e) => number.includes(e.parent?.errno) || assert.fail(e))

await db.transaction(async (transaction) => {
  await Order.create({ id: 1, amount: 5 }, { transaction })
  await Check.create(check('1', { payload: { a: 1 } }), { transaction })
})
await assert.rejects(db.transaction(async (transaction) => {
  await Check.create(check('2'), { transaction })
  await Check.create(check('3')) // the transaction was forgotten
  await Order.create({ id: 2, amount: 0 }, { transaction }) // the CHECK of the shop
}))
assert.deepEqual([(await pending('2')).length, (await pending('3')).length], [0, 1])
const [one] = await pending('1')
assert.deepEqual([one.due_at, one.payload], [due, { a: 1 }])
await db.transaction(async (transaction) => {
  await refused([1062], Check.create(check('1'), { transaction }))
  const [put] = await db.query("CALL put('order', '1', 'order-unshipped', '', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, NULL, 'replace')", { transaction })
  assert.equal(put.did, 'replaced')
  const at = new Date('2035-01-01T12:00:00Z'), offset = at.getTimezoneOffset()
  const [off] = await db.query("CALL put('order', '1', 'order-unshipped', '', ?, NULL, 'replace')", { replacements: [at], transaction })
  assert.equal(at - off.due_at, offset * 60e3)
  const [{ cancelled }] = await db.query("CALL cancel('order', '1', NULL)", { transaction })
  assert.deepEqual([cancelled, await pending('1', transaction)], [1, []])
})
await Check.bulkCreate([check('3'), check('4')], { ignoreDuplicates: true })
assert.equal((await pending('4')).length, 1)
await refused([1142], Check.findOrCreate({ where: { entity_name: 'order', entity_key: '5', job_exec: 'order-unshipped', tag: '' }, defaults: { due_at: due } }))
await refused([1142], Check.upsert(check('3')))
await refused([1143, 1054], WithId.create(check('6')))
console.log('Sequelize', Sequelize.version)
await db.close()
