package checks

import (
	"context"
	"io"
	"time"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/forecast"
	"prescient/sql"
)

// warnTime bounds the look into the forecast: the check is inserted already.
const warnTime = 5 * time.Second

// warnLate says on stderr whether the forecast has a slot end too late. What cannot be read is said, too: the check is there all the same.
func warnLate(ctx context.Context, s *program.Session, stderr io.Writer, slot time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, warnTime)
	defer cancel()
	p, there, err := forecast.Slot(ctx, s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect), slot)
	over := p.Over.Duration().Round(time.Second)
	switch {
	case err != nil:
		return output.Say(stderr, "%s: warning: the forecast could not be read: %s", s.Program.Name, s.Explain(err))
	case !there:
		return nil
	case p.Verdict == forecast.Next:
		return output.Say(stderr, "%s: warning: by the forecast the slot %s ends %s after the next begins: it has %s checks", s.Program.Name, output.Stamp(slot), over, output.Count(p.Due+p.Occurrences))
	case p.Verdict == forecast.SLA:
		return output.Say(stderr, "%s: warning: by the forecast the last check of the slot %s starts %s past the SLA of %s", s.Program.Name, output.Stamp(slot), over, p.Fit.JobExec)
	}
	return nil
}
