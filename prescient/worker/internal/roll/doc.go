// Package roll moves the rows of an overdue slot to the next slot, without a call. It works under the slot's leases and behind the fence, and passes over
// locked rows.
package roll
