package api

import "prescient/prescient/ops"

func (a *server) tokens() {
	query(a, ops.ListTokens)
	deed(a, ops.CreateToken)
	deed(a, ops.RotateToken)
	deed(a, ops.RevokeToken)
	query(a, ops.ListUsers)
	query(a, ops.ListSessions)
	deed(a, ops.AddUser)
	deed(a, ops.DisableUser)
	deed(a, ops.EnableUser)
	deed(a, ops.SetUserRole)
	deed(a, ops.SetUserPassword)
	deed(a, ops.EndSessions)
}
