// Package roll moves the rows of an overdue slot to the next slot, without a call: the other way to catch up. It works under the
// leases of the slot, so that what a live worker holds is left alone, behind the fence, so that whoever lost the lease moves nothing,
// and passes over rows that others have locked.
package roll
