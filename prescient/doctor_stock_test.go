package prescient

import (
	"context"
	"testing"
	"time"

	"prescient/prescient/internal/servertest"
	"prescient/prescient/localserver"
)

// A server at its defaults, freshly migrated, is healthy: before a worker has run and after.
func TestADoctorFindsAStockServerHealthy(t *testing.T) {
	for _, flavour := range servertest.Flavours(t) {
		t.Run(string(flavour), func(t *testing.T) {
			// In place of what the tests' servers are given for speed.
			defaults := map[localserver.Flavour][]string{
				localserver.MariaDB: {"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=0", "--innodb-doublewrite=1"},
				localserver.MySQL:   {"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-doublewrite=1"}}
			r := newRig(t, servertest.On(t, servertest.Private(t, flavour, defaults[flavour]...)), time.Second)
			_, err := KeepPartitions(t.Context(), r.pool(time.Time{}), PruneOptions{Prefix: "p_"})
			r.must(err)
			healthy := func(when string) {
				t.Helper()
				for _, use := range []Use{UseWorker, UseOwner} {
					found, err := Doctor(t.Context(), r.as(string(use), time.Time{}), DoctorOptions{Prefix: "p_", Use: use, Resolution: time.Second})
					r.must(err)
					for _, f := range found {
						if f.Severity != SeverityOK && f.Code != "time_zone" { // that of this machine
							t.Errorf("%s, as %s: %+v", when, use, f)
						}
					}
				}
			}
			healthy("before a worker ran")
			settled := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
			_, err = r.worker(time.Time{}, settled, WorkerOptions{}).Run(t.Context())
			r.must(err)
			healthy("after one ran")
		})
	}
}
