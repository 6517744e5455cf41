package worker

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// effects is a table of the app's own, to which a TxFunc writes; of counts what it has of each key.
func (r *testRig) effects() (of func() map[string]int) {
	r.T.Helper()
	_, err := r.Root.Exec("CREATE TABLE effects (id BIGINT AUTO_INCREMENT PRIMARY KEY, entity_key VARCHAR(128) NOT NULL, KEY (entity_key))")
	r.Must(err)
	r.Also("worker", "INSERT", "effects")
	return func() map[string]int {
		r.T.Helper()
		return r.Tally("SELECT entity_key, COUNT(*) FROM effects GROUP BY entity_key")
	}
}

func haveOneEffect(t *testing.T, of map[string]int, keys []string) {
	t.Helper()
	for _, key := range keys {
		if of[key] != 1 {
			t.Errorf("%s has %d effects; want 1", key, of[key])
		}
	}
}

// begin is unrun for a test with effects.
func (r *testRig) begin() {
	r.T.Helper()
	r.unrun()
	r.Exec("DELETE FROM effects")
}

func effect(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO effects (entity_key) VALUES (?)", job.EntityKey)
	return err
}
