package schedule

import (
	"time"

	"github.com/spf13/pflag"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/words"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// longFlags are those of a definition that are for long runs.
type longFlags struct {
	long, noPool     bool
	overlap          longrun.Overlap
	tolerance, quota time.Duration
	pool             string
}

func (f *longFlags) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.long, "long", false, "its runs may outlive their slots, and keep apart: --exec names a job_exec for long runs")
	arguments.Parsed(flags, &f.overlap, "overlap", "", longrun.ParseOverlap, "of what comes while a long run is under way: allow, forbid or queue (default forbid)")
	arguments.Duration(flags, &f.tolerance, "tolerance", "", "by how much two long runs may start too close together: 5s (default a tenth of the interval)")
	flags.StringVar(&f.pool, "pool", "", "whose agents may have its long runs, such as heavy (default that of the job_exec)")
	arguments.Parsed(flags, &f.quota, "quota", "", file.ParseQuota, "how long after its start a long run is ended: 30s, or none (default half of the interval)")
}

// change changes what the flags that were given say of a definition. --long=false takes back what is for long runs alone.
func (f *longFlags) change(s *schedule.Schedule, given func(name string) bool) {
	if set(given("long"), &s.Long, f.long); given("long") && !f.long {
		s.Overlap, s.Tolerance, s.Quota, s.Pool = "", 0, 0, ""
	}
	set(given("overlap"), &s.Overlap, f.overlap)
	set(given("tolerance"), &s.Tolerance, f.tolerance)
	set(given("quota"), &s.Quota, f.quota)
	set(given("pool") || f.noPool, &s.Pool, f.pool)
}

// sayLongRuns prints the long runs that did not end.
func (f shown) sayLongRuns(p *output.Printer) {
	cells := make([][]string, len(f.LongRuns))
	for i, run := range f.LongRuns {
		cells[i] = []string{words.Clip(f.ID+"-"+run.Occurrence, 100), string(run.Phase), words.Clean(run.Pool), words.Clean(run.Agent), output.Second(run.StartedAt), output.Second(run.CalledAt),
			output.Second(run.AllocatedUntil), output.Count(run.Takeovers)}
	}
	p.Table("\nlong runs:", []output.Column{{Title: "run"}, {Title: "is"}, {Title: "pool"}, {Title: "agent"}, {Title: "started (UTC)"}, {Title: "called"},
		{Title: "allocated until"}, {Title: "takeovers", Right: true}}, cells)
}
