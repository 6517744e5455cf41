package checks_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestSlotArithmetic(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"ceil", "2026-03-01 13:05"}, 0, "2026-03-01T13:15:00Z\n"},
		{[]string{"ceil", "2026-03-01 13:15"}, 0, "2026-03-01T13:15:00Z\n"},
		{[]string{"ceil", "2026-03-01T13:15:00.000001Z"}, 0, "2026-03-01T13:30:00Z\n"},
		{[]string{"ceil", "2026-03-01T13:05:00+01:00", "--slots-resolution", "1d"}, 0, "2026-03-02T00:00:00Z\n"},
		{[]string{"ceil", "2026-03-01 13:05", "--json", "--worker-minutes", "0,30"}, 0,
			`{"time":"2026-03-01T13:05:00Z","slot":"2026-03-01T13:15:00Z","served":false}` + "\n"},
		{[]string{"served", "--from", "2026-03-01 13:00", "--limit", "2", "--worker-minutes", "0,30"}, 0,
			"2026-03-01T13:00:00Z\n2026-03-01T13:30:00Z\n"},
		{[]string{"cover", "--minutes", "0,30", "--minutes", "15,45"}, 0, "every slot is served exactly once\n"},
		{[]string{"cover", "--minutes", "0,30", "--share", "1/2"}, 1,
			"nobody serves :15, :45\nminutes 0,30 and share 1/2 both serve :00, :30\n"},
		{[]string{"cover", "--minutes", "0,30", "--json"}, 1, `{"period_s":3600,"unserved_s":[900,2700],"doubled":[]}` + "\n"},
	} {
		got := rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"slots"}, test.args...)...)
		if got.Code != test.code || got.Out != test.out {
			t.Errorf("%v\nwant exit code %d and %s", got, test.code, test.out)
		}
	}
	if got := rig.Execute(t.Context(), cmd.Options{}, nil, "", "slots", "ceil", "13:05"); !strings.HasSuffix(got.Out, "T13:15:00Z\n") {
		t.Errorf("%v", got)
	}
}
