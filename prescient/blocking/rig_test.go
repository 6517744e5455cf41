package blocking

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is the rig of this room.
type testRig struct{ *app.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d)) })
}

func newRig(t *testing.T, d servertest.Database) *testRig {
	t.Helper()
	return &testRig{app.New(t, d, 15*time.Minute)}
}
