package worker

import (
	"context"
	"encoding/json"
	"time"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/scripts/chaos/checker"
)

// RunExec is the job_exec that schedules run.
const RunExec = "run"

// Planned is the payload of a schedule. Its text is another for each definition.
type Planned struct {
	Definition string `json:"definition"`
	Fails      int    `json:"fails"`  // how often a run fails before it is done
	NapMS      int    `json:"nap_ms"` // how long it takes
	Steps      int    `json:"steps"`  // that a long one has
}

// registerRun registers what schedules run, between its two reports. The command registers what fires them.
func registerRun(registry *prescient.Registry, checks *reporter, deps cmd.Deps) error {
	return registry.Register(RunExec, func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		event := checker.Event{Kind: checker.Call, Key: job.EntityKey, Exec: job.JobExec, Tag: job.Tag, Revision: job.Revision,
			Slot: job.NextCheckAt, Due: job.DueAt, Checks: job.CheckCount, Errors: job.ErrorCount}
		event.N = checks.note(event)
		next, err := deps.Schedules.Func(deps.DB, func(ctx context.Context, run schedule.Run) error {
			event.Payload = string(run.Payload)
			var p Planned
			if err := json.Unmarshal(run.Payload, &p); err != nil {
				return err
			}
			if job.ErrorCount < p.Fails {
				return errFlaky
			}
			return nap(ctx, time.Duration(p.NapMS)*time.Millisecond)
		})(ctx, job)
		event.Kind, event.Failed = checker.Answer, err != nil
		checks.note(event)
		return next, err
	}, prescient.Guards{Timeout: inTime})
}
