package api

import "prescient/prescient/ops"

func (a *server) checks() {
	query(a, ops.GetCheck)
	query(a, ops.ListPending)
	query(a, ops.ListEnded)
	deed(a, ops.InsertChecks)
	deed(a, ops.CancelChecks)
	deed(a, ops.RescheduleCheck)
}
