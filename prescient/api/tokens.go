package api

import "prescient/prescient/ops"

func (a *server) tokens() {
	query(a, ops.ListTokens)
	deed(a, ops.CreateToken)
	deed(a, ops.RotateToken)
	deed(a, ops.RevokeToken)
}
