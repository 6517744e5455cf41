package doctor

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is the rig of this room.
type testRig struct{ *whole.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServerAt(t, 15*time.Minute, test)
}

func eachServerAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

// eachFlavour is eachServer on one server of each flavour, for what sends the same to all.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachFlavourAt(t, 15*time.Minute, test)
}

func eachFlavourAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *testRig {
	t.Helper()
	return &testRig{whole.New(t, d, resolution)}
}
