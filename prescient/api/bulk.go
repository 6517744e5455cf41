package api

import "prescient/prescient/ops"

func (a *server) bulk() {
	deed(a, ops.PreviewBulk)
	deed(a, ops.StartBulk)
	deed(a, ops.StopBulk)
	query(a, ops.GetBulk)
	query(a, ops.ListBulk)
}
