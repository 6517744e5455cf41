package attest

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
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		test(t, &testRig{whole.New(t, d, 15*time.Minute)})
	})
}

// eachFlavour is eachServer on one server of each flavour, for what only reads: its plans are looked at on all.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		test(t, &testRig{whole.New(t, d, 15*time.Minute)})
	})
}
