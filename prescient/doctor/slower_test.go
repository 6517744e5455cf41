package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/tally"
)

func TestADoctorNamesWhatBecameSlower(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		wantFinding(t, r.examine(rig.At("13:20"), Options{}), "slower", SeverityOK, "takes longer than in its own last weeks")
		var rows []string
		for ago := 1; ago <= 30; ago++ {
			ms := int64(400)
			if ago <= 2 {
				ms = 900
			}
			rows = append(rows, fmt.Sprintf("('day', '%s', 'export', 'order', 'run', %d, 90)", rig.At("13:20").AddDate(0, 0, -ago).Format(time.DateOnly), tally.BucketOf(ms)))
		}
		r.Exec("INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) VALUES " + strings.Join(rows, ","))
		wantFinding(t, r.examine(rig.At("13:20"), Options{}), "slower", SeverityWarn, "export became slower", "before 2026-11-18", "ms now")
	})
}
