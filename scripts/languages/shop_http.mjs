// What the worker calls, with a check and with an event: node shop_http.mjs 8000
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { once, transaction } from './shop.mjs'

const { SECRET } = process.env // of jobs.http and of the route of events
if (!SECRET) throw new Error('SECRET is empty: anybody could sign')

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

createServer(async (request, response) => {
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
}).listen(process.argv[2], '127.0.0.1')
