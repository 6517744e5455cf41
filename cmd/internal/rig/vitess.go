package rig

import (
	"errors"
	"testing"

	"prescient/prescient/localserver/vitess"
)

// Vitess starts a cluster that is closed at the end of the test. PRESCIENT_SERVER_DIR says where scripts/vitess has built one; without, the test
// is skipped.
func Vitess(t *testing.T, options vitess.Options) *vitess.Cluster {
	t.Helper()
	cluster, err := vitess.Start(t.Context(), options)
	if errors.Is(err, vitess.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}
