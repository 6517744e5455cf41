package acceptance

import (
	"slices"
	"strings"
	"testing"

	"prescient/prescient"
)

// The tables know the outcomes that the code knows: history takes each, and the ledger counts each but those of the app.
func TestTheTablesKnowEveryOutcome(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		var taken, counted []string
		for _, outcome := range prescient.Outcomes() {
			taken = append(taken, "'"+string(outcome)+"'")
			if !outcome.ByApp() {
				counted = append(counted, string(outcome))
			}
		}
		var kind string
		r.Must(r.Root.QueryRow("SELECT column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'p_job_history' AND column_name = 'outcome'").Scan(&kind))
		if want := "enum(" + strings.Join(taken, ",") + ")"; kind != want {
			t.Errorf("the outcome of history is %s; want %s", kind, want)
		}
		rows, err := r.Root.Query("SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'p_slot_run' ORDER BY ordinal_position")
		r.Must(err)
		defer rows.Close()
		var columns []string
		for rows.Next() {
			var name string
			r.Must(rows.Scan(&name))
			columns = append(columns, name)
		}
		r.Must(rows.Err())
		found := slices.DeleteFunc(columns, func(name string) bool { return !slices.Contains(counted, name) })
		if !slices.Equal(found, counted) {
			t.Errorf("the ledger has the counts %q; want %q in this order", found, counted)
		}
	})
}
