package client

import (
	"errors"
	"testing"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	text "prescient/sql"
)

// Nothing of what fails stays behind, whatever went well within it: also where somebody has begun a transaction by hand.
func TestWhatFailsTakesWhatWentWellWithinItAlong(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		conn, err := r.App.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, begin := range []string{"BEGIN", "SET autocommit = 0"} {
			if _, err := conn.ExecContext(t.Context(), begin); err != nil {
				t.Fatal(err)
			}
			insert := func(db prescient.DB, key string) error {
				_, err := db.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'check', '2030-01-01')", key)
				return err
			}
			failed := errors.New("it fails")
			err := handle.InTx(t.Context(), text.MySQL, conn, func(db prescient.DB) error {
				if err := insert(db, "first"); err != nil {
					return err
				}
				if err := handle.InTxWithin(t.Context(), text.MySQL, db, "prescient_replace", func(db prescient.DB) error { return insert(db, "second") }); err != nil {
					return err
				}
				return failed
			})
			if !errors.Is(err, failed) {
				t.Error(err)
			}
			if _, err := conn.ExecContext(t.Context(), "COMMIT"); err != nil {
				t.Error(err)
			}
			if n := r.Count("SELECT COUNT(*) FROM p_future_job"); n != 0 {
				t.Errorf("after %s %d rows stayed", begin, n)
			}
		}
	})
}
