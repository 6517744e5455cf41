package acceptance

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
)

// testRig is the rig of this room.
type testRig struct{ *whole.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServerAt(t, 15*time.Minute, test)
}

// besideOthers is eachServer for a test that has no tight bound of time: it runs beside others, since a server at a time
// keeps it waiting.
func besideOthers(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	eachServer(t, test)
}

func eachServerAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *testRig {
	t.Helper()
	return &testRig{whole.New(t, d, resolution)}
}

func TestMain(m *testing.M) { servertest.Main(m) }
