package checks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/input"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
	"prescient/prescient"
	"prescient/prescient/client"
)

// unknownTime stands in for a time that is not known yet, where flags are checked before the database is asked.
var unknownTime = time.Unix(0, 0).UTC()

// insertFlags are the flags of insert.
type insertFlags struct {
	target
	when                                arguments.When
	payload, onPending, spread, expires string
	warn                                bool
}

// placed is what insert and reschedule print.
type placed struct {
	Did        client.InsertAction `json:"did"`
	EntityName string              `json:"entity_name"`
	EntityKey  string              `json:"entity_key"`
	JobExec    string              `json:"job_exec"`
	Tag        string              `json:"tag"`
	DueAt      time.Time           `json:"due_at"`
	Slot       time.Time           `json:"slot"`
}

// Insert returns the command insert.
func Insert(prog *program.Program) *cobra.Command {
	var f insertFlags
	var file insertFileFlags
	cmd := &cobra.Command{
		Use:   "insert (--entity NAME/KEY --exec NAME (--at TIME | --in DURATION) | --file PATH)",
		Short: "Make a check pending",
		Long: `Makes a check pending. Its time is rounded up to a slot; one that is over goes to the next open slot.

A time without a zone is UTC. "now", which --in counts from, is what the database's clock says.

A job_exec that nobody seems to have, since it is not registered here and none of its checks has run of late, is warned
about on stderr; the check is inserted all the same.` + insertFileHelp,
		Example: fmt.Sprintf(`  %[1]s insert --entity order/42 --exec order-unshipped --in 3h
  %[1]s insert --entity order/42 --exec order-unshipped --at 2026-03-01T13:00:00+01:00 --payload '{"lines": 3}'
  %[1]s insert --entity patient/7 --exec remind --in 3h --expires 1h
  %[1]s insert --file orders.csv --exec order-unshipped --in 3h`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != (insertFileFlags{}) {
				return insertFile(cmd, prog, f, file)
			}
			return insert(cmd, prog, f)
		},
	}
	f.target.addFlags(cmd)
	f.when.AddFlags(cmd.Flags())
	file.addFlags(cmd)
	cmd.Flags().StringVar(&f.payload, "payload", "", "JSON that the job_exec gets; - reads it from stdin, @PATH from a file")
	cmd.Flags().StringVar(&f.spread, "spread", "", "due somewhere between its time and so much later, such as 30m; always at the same place for the same check")
	cmd.Flags().StringVar(&f.expires, "expires", "", "not called any more so long after it is due, such as 1h: it ends as expired (default never)")
	cmd.Flags().BoolVar(&f.warn, "warn", false, "warn on stderr where the forecast says that the slot of the check will not end in time")
	cmd.Flags().StringVar(&f.onPending, "on-pending", string(prescient.Keep),
		"if it is pending already: keep, replace, earlier, later or error")
	return cmd
}

func insert(cmd *cobra.Command, prog *program.Program, f insertFlags) error {
	job, err := f.job(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		if job.DueAt, err = dueOf(cmd.Context(), s, f.when); err != nil {
			return err
		}
		did, err := s.Client.Insert(cmd.Context(), s.DB, job)
		if err != nil {
			return s.Explain(err)
		}
		err = errors.Join(printPlaced(prog, cmd.OutOrStdout(), job.Entity, f.target, did),
			s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), putOff, job.JobExec))
		if f.warn {
			err = errors.Join(err, warnLate(cmd.Context(), s, cmd.ErrOrStderr(), did.Slot))
		}
		return err
	})
}

// putOff is what comes of a check whose job_exec nobody has.
const putOff = "workers put its checks off, further each time, until one has it"

// job reads all flags but the time, which it only checks.
func (f *insertFlags) job(ctx context.Context, stdin io.Reader) (prescient.NewJob, error) {
	entity, err := f.parse()
	if err != nil {
		return prescient.NewJob{}, err
	}
	if err := f.when.Check(); err != nil {
		return prescient.NewJob{}, err
	}
	job := prescient.NewJob{Entity: entity, JobExec: f.exec, Tag: f.tag, DueAt: unknownTime}
	if job.OnPending, err = prescient.ParseOnPending(f.onPending); err != nil {
		return job, fmt.Errorf("--on-pending: %w", err)
	}
	if job.Spread, err = parseSpread(f.spread); err != nil {
		return job, err
	}
	if job.ExpiresAfter, err = parseExpires(f.expires); err != nil {
		return job, err
	}
	if job.Payload, err = input.Payload(ctx, f.payload, stdin); err != nil {
		return job, exit.NotRead("--payload", err)
	}
	return job, job.Validate()
}

// dueOf is the time that the flags mean, asking the database for its own only where that matters.
func dueOf(ctx context.Context, s *program.Session, w arguments.When) (time.Time, error) {
	var now time.Time
	if w.In != "" || times.Relative(w.At) {
		var err error
		if now, err = s.Now(ctx); err != nil {
			return time.Time{}, err
		}
	}
	return w.Resolve(now)
}

func printPlaced(prog *program.Program, w io.Writer, e prescient.Entity, t target, did client.Inserted) error {
	is := placed{Did: did.Did, EntityName: e.Name, EntityKey: e.Key, JobExec: t.exec, Tag: t.tag, DueAt: did.DueAt, Slot: did.Slot}
	return output.Answer(w, prog.JSON, is, "%s: %s of %s is due at %s, in the slot %s (UTC)", string(did.Did), t.name(), e.String(),
		output.Stamp(did.DueAt), output.Stamp(did.Slot))
}

// name is the job_exec, and the tag where there is one.
func (t *target) name() string {
	if t.tag == "" {
		return t.exec
	}
	return t.exec + " (" + t.tag + ")"
}
