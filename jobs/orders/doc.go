// Package orders is an app with one job_exec, made to be copied: an order that is not shipped some time after it was
// placed is alerted about, and escalated if it is still not shipped some time later. Its alerts are rows in
// order_alerts.
//
// An app of one's own has the same three places:
//
//   - Place inserts the order and its check in one transaction, so there is never the one without the other.
//   - Ship marks the order as shipped. It may leave the check alone, which then finds that there is nothing to do, or
//     cancel it in the same transaction.
//   - Check is the job_exec, for a worker in this or in any other process. CheckBatch is the same for many orders in one call:
//     one query where most are shipped, in place of one an order.
//
// # The life of a check
//
// With the defaults (alert after 3 h, escalate after 6 h), slots of 15 minutes, and an order placed at 10:05:
//
//	10:05  Place                future_job: due 13:05, slot 13:15
//	13:15  Check → 16:05        order_alerts: primary;   future_job: due 16:05, slot 16:15
//	16:15  Check → nil          order_alerts: escalated; job_history: done, check_count 1
//
// An order that is shipped or gone when its check comes gets no alert and no other check.
//
// # Why a second call does no harm
//
// A check may be called twice for one slot: its worker may die after the alert and before the commit of the answer.
// Check does not count its calls. It looks at which alerts there are, of which slots, and what time the slot is:
// an alert that this very slot raised is not raised again, and is answered for as it was the first time. order_alerts
// holds one row of each level for an order, and the statement that inserts it locks the order and inserts nothing when
// that is shipped. So an alert and a shipment happen one after the other, and after the shipment there are no alerts.
//
// # After an outage
//
// A first check that comes later than the time to escalate raises the primary alert only, and asks to be called right
// after its own slot; the escalation comes at the next open slot. Alerts are late then, but none is left out, and there
// is a slot between the two.
package orders
