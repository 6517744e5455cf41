package acceptance

import (
	"prescient/prescient/internal/rig"
)

func (i installation) needs(what rig.Capability) {
	i.t.Helper()
	rig.Needs(i.t, i.db, what)
}
