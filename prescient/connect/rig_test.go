package connect

import (
	"database/sql/driver"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
)

// testRig is the rig of this room.
type testRig struct{ *rig.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServerAt(t, 15*time.Minute, test)
}

func eachServerAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	t.Parallel() // they mostly wait
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *testRig {
	t.Helper()
	return &testRig{rig.New(t, d, resolution, opener)}
}

var opener = rig.Opener{Open: Open, Connector: func(dsn string, lease time.Duration) (driver.Connector, error) {
	return WorkerConnector(dsn, lease, TLS{})
}}

func TestMain(m *testing.M) { servertest.Main(m) }
