package migrate

import (
	"slices"
	"testing"
)

func TestExpectedReadsTheMigrations(t *testing.T) {
	tables, err := Schema{Prefix: "p_"}.Expected()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		table                  string
		columns                int
		column, index, checked string
	}{
		{"p_slot_config", 5, "resolution_to_s", "PRIMARY", "p_slot_config_divides_a_day"},
		{"p_future_job", 16, "first_check_at", "job_key", "p_future_job_on_grid"},
		{"p_job_history", 24, "lateness_ms", "job_key", ""},
		{"p_slot_run", 22, "attempt_revision", "PRIMARY", ""},
	} {
		i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == want.table })
		if i < 0 {
			t.Errorf("no %s in %+v", want.table, tables)
			continue
		}
		got := tables[i]
		if len(got.Columns) < want.columns || !slices.Contains(got.Columns, want.column) || !slices.Contains(got.Indexes, want.index) ||
			!slices.Contains(got.Indexes, "PRIMARY") || want.checked != "" && !slices.Contains(got.Checks, want.checked) {
			t.Errorf("%s is read as %+v", want.table, got)
		}
	}
}
