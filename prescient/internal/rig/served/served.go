// Package served is a rig of an installation whose operations are done on the accounts that serve has.
package served

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
)

// Rig is a Rig with operations.
type Rig struct {
	*app.Rig
	Ops *ops.Ops
}

// New makes the operations, at the running clock of the server.
func New(t *testing.T, d servertest.Database, resolution time.Duration) *Rig {
	t.Helper()
	r := &Rig{Rig: app.New(t, d, resolution)}
	r.Ops = r.OpsAt(time.Time{})
	return r
}

// OpsAt makes operations for which the server's clock stands still at a time.
func (r *Rig) OpsAt(now time.Time) *ops.Ops {
	r.T.Helper()
	return r.ops(ops.Accounts{Viewer: r.As("serve-viewer", now), Operator: r.As("serve-operator", now), Admin: r.As("serve-admin", now)})
}

// HookedOps is OpsAt with hooks.
func (r *Rig) HookedOps(now time.Time, h *rig.Hooks) *ops.Ops {
	r.T.Helper()
	return r.ops(ops.Accounts{Viewer: r.HookedAs("serve-viewer", now, h), Operator: r.HookedAs("serve-operator", now, h), Admin: r.HookedAs("serve-admin", now, h)})
}

// searchTime leaves lists to what they find, however busy the machine is.
const searchTime = 10 * time.Second

func (r *Rig) ops(accounts ops.Accounts) *ops.Ops {
	r.T.Helper()
	o, err := ops.Open(r.T.Context(), ops.Options{Prefix: "p_", Dialect: r.Setting, Program: "served", Accounts: accounts, Search: searchTime})
	r.Must(err)
	return o
}

// By is a caller with a role, of that name.
func By(role ops.Role) ops.Caller {
	return ops.Caller{Name: string(role), Role: role, Token: uint64(len(role)), Host: "10.0.0.7"}
}

// Check is a new check of an order, as the API has it.
func Check(key, jobExec string, due time.Time) ops.NewCheck {
	return ops.NewCheck{Check: ops.Check{Entity: prescient.Entity{Name: "order", Key: key}.String(), JobExec: jobExec}, DueAt: due, Payload: []byte(`{"secret":1}`)}
}
