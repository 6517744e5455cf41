package operate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestMigrate(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Execute("pending").Wants(r.T, cmd.ExitTables, "Run `prescient migrate`")
		r.Execute("run").Wants(r.T, cmd.ExitTables, "Run `prescient migrate`")
		file := filepath.Join(r.T.TempDir(), "it's.yaml")
		r.Must(os.WriteFile(file, nil, 0o600))
		r.Execute("pending", "--config", file).Wants(r.T, cmd.ExitTables, `migrate --config '`+strings.TrimSuffix(file, "'s.yaml")+`'\''s.yaml'`)
		if got := r.Execute("migrate", "status"); got.Code != cmd.ExitTables || !strings.Contains(got.Out, "migrations are missing") || got.Err != "" {
			r.Errorf("%v", got)
		}
		if out := r.OK("migrate"); !strings.Contains(out, "applied 00036_baseline.sql") {
			r.Error(out)
		}
		if out := r.OK("migrate", "up"); out != "the tables are up to date\n" {
			r.Error(out)
		}
		if out := r.OK("migrate", "status", "--json"); out != `{"prefix":"","resolution":"15m0s","missing":0}`+"\n" {
			r.Error(out)
		}
		// Two installations, one database.
		r.OK("migrate", "--table-prefix", "other_", "--slots-resolution", "1h")
		r.OK("insert", "--entity", "order/42", "--exec", "x", "--in", "3h")
		if out := r.OK("pending", "--table-prefix", "other_", "--slots-resolution", "1h"); out != "nothing is pending\n" {
			r.Error(out)
		}
		r.OK("migrate", "down", "--yes")
		r.Execute("pending").Wants(r.T, cmd.ExitTables)
		r.OK("pending", "--table-prefix", "other_", "--slots-resolution", "1h")
		if out := r.OK("migrate", "down", "--yes"); out != "there were no tables\n" {
			r.Error(out)
		}
	})
}
