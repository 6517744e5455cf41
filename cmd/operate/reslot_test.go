package operate_test

import (
	"slices"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/audit"
)

func TestReslot(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.ChangeOfResolution)
		r.Begin()
		r.OK("insert", "--entity", "order/42", "--exec", "unshipped", "--at", "2026-11-20 13:05")
		for _, args := range [][]string{{}, {"--resolution", "7m"}, {"--resolution", "soon"}, {"--resolution", "5m", "--wait", "long"}} {
			r.Execute(append([]string{"reslot"}, args...)...).Wants(r.T, cmd.ExitUsage)
		}
		got := r.Execute("reslot", "--resolution", "20m", "--reason", "too coarse")
		got.Wants(r.T, cmd.ExitOK, `"step":"move"`, "set it to 20m0s")
		if got.Out != "slots are 20m0s apart, before 15m0s; moved 1 row\n" {
			r.Error(got)
		}
		r.Execute("sweep").Wants(r.T, cmd.ExitTables, "the tables have 20m, not 15m")
		rows := rig.Lines[rig.JobRow](r.T, r.OK("pending", "--json", "--slots-resolution", "20m"))
		if len(rows) != 1 || !rows[0].NextCheckAt.Equal(rig.At("13:20")) {
			r.Errorf("%+v", rows)
		}
		_, err := r.DB.Exec("UPDATE slot_config SET resolution_to_s = 300")
		r.Must(err)
		r.Execute("work", "--slots-resolution", "20m").Wants(r.T, cmd.ExitTables, "from 20m to 5m", "Run reslot --resolution 5m")
		if out := r.OK("reslot", "--resolution", "5m", "--json"); len(rig.Lines[struct{ From, To string }](r.T, out)) != 1 {
			r.Error(out)
		}
		r.OK("pending", "--slots-resolution", "5m")
		var told []string
		for _, e := range rig.Lines[audit.Stored](r.T, r.OK("audit", "--verb", "reslot", "--json", "--slots-resolution", "5m")) {
			told = append(told, strings.Join([]string{string(e.Kind), e.ID, e.Command, e.Reason, string(e.Before), string(e.After)}, "|"))
		}
		slices.Sort(told) // they are of one time
		if want := []string{
			`installation|prescient|reslot|too coarse|{"resolution":"15m0s"}|{"resolution":"20m0s"}`,
			`installation|prescient|reslot||{"resolution":"20m0s"}|{"resolution":"5m0s"}`,
		}; !slices.Equal(told, want) {
			r.Errorf("the audit has %q; want %q", told, want)
		}
	})
}
