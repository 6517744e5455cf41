// Package orders is an app with one job_exec, made to be copied: it alerts about an order that is not shipped some time after it was placed, and
// escalates later.
//
//   - Place inserts the order and its check in one transaction.
//   - Ship marks the order as shipped. Its check finds nothing to do, or, with CancelOnShip, is cancelled with that.
//   - Check is the job_exec; CheckBatch is the same for many orders by one query.
//
// With the defaults, slots of 15 minutes, and an order placed at 10:05:
//
//	10:05  Place                future_job: due 13:05, slot 13:15
//	13:15  Check → 16:05        order_alerts: primary;   future_job: due 16:05, slot 16:15
//	16:15  Check → nil          order_alerts: escalated; job_history: done, check_count 1
//
// A check that is too late for both raises the primary alert, and escalates in the next open slot. Called twice, it does not raise again what its
// slot has raised.
package orders
