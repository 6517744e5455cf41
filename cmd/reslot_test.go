package cmd_test

import (
	"testing"

	"prescient/cmd"
)

func TestReslot(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.needs(changeOfResolution)
		r.at("10:05")
		r.ok("migrate")
		r.ok("insert", "--entity", "order/42", "--exec", "unshipped", "--at", "2026-11-20 13:05")
		for _, args := range [][]string{{}, {"--resolution", "7m"}, {"--resolution", "soon"}, {"--resolution", "5m", "--wait", "long"}} {
			r.execute(append([]string{"reslot"}, args...)...).wants(r.T, cmd.ExitUsage)
		}
		got := r.execute("reslot", "--resolution", "20m")
		got.wants(r.T, cmd.ExitOK, `"step":"move"`, "set it to 20m0s")
		if got.out != "slots are 20m0s apart, before 15m0s; moved 1 rows\n" {
			r.Error(got)
		}
		r.execute("jobs").wants(r.T, cmd.ExitTables, "20m0s", "15m0s")
		rows := lines[jobRow](r.T, r.ok("jobs", "--json", "--slots-resolution", "20m"))
		if len(rows) != 1 || !rows[0].NextCheckAt.Equal(at("13:20")) {
			r.Errorf("%+v", rows)
		}
		_, err := r.db.Exec("UPDATE slot_config SET resolution_to_s = 300")
		r.must(err)
		r.execute("work", "--slots-resolution", "20m").wants(r.T, cmd.ExitTables, "from 20m0s to 5m0s", "run reslot again")
		if out := r.ok("reslot", "--resolution", "5m", "--json"); len(lines[struct{ From, To string }](r.T, out)) != 1 {
			r.Error(out)
		}
		r.ok("jobs", "--slots-resolution", "5m")
	})
}
