package doctor

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/prune"
	"prescient/prescient/worker"
)

// A server at its defaults, freshly migrated, is healthy: before a worker has run and after.
func TestADoctorFindsAStockServerHealthy(t *testing.T) {
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		// In place of what the tests' servers are given for speed.
		defaults := map[localserver.Flavour][]string{
			localserver.MariaDB: {"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=0", "--innodb-doublewrite=1"},
			localserver.MySQL:   {"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-doublewrite=1"}}
		r := newRig(t, servertest.On(t, servertest.Private(t, flavour, defaults[flavour]...)), time.Second)
		_, err := prune.KeepPartitions(t.Context(), r.Pool(time.Time{}), prune.Options{Prefix: "p_"})
		r.Must(err)
		healthy := func(when string) {
			t.Helper()
			for _, use := range []Use{UseWorker, UseOwner} {
				found, err := Examine(t.Context(), r.As(string(use), time.Time{}), Options{Prefix: "p_", Dialect: r.Setting, Use: use, Resolution: time.Second})
				r.Must(err)
				for _, f := range found {
					if f.Severity.Wrong() && f.Code != "time_zone" { // that of this machine
						t.Errorf("%s, as %s: %+v", when, use, f)
					}
				}
			}
		}
		healthy("before a worker ran")
		settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		_, err = r.Worker(time.Time{}, settled, worker.Options{}).Run(t.Context())
		r.Must(err)
		healthy("after one ran")
	})
}
