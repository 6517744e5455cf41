package file

import (
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"prescient/cmd/internal/input"
	"prescient/config/value"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// jobFields reads a job. It notes in places where its steps stand.
func jobFields(job *steps.Job, enabled **bool, places input.Places) *fields {
	return &fields{named: "job", list: []field{
		{"job", text(&job.Name)}, {"crontab", texts(&job.Crontabs)}, {"zone", text(&job.Zone)}, {"steps", stepList(&job.Steps, places)}, {"pool", text(&job.Pool)}, {"heartbeat", text(&job.Heartbeat)},
		{"overlap", parsed(&job.Overlap, longrun.ParseOverlap)}, {"tolerance", duration(&job.Tolerance)}, {"quota", parsed(&job.Quota, quota)},
		{"catch_up", parsed(&job.CatchUp, schedule.ParseCatchUp)}, {"catch_up_within", duration(&job.CatchUpWithin)}, {"expires_after", duration(&job.ExpiresAfter)},
		{"jitter", duration(&job.Jitter)}, {"coalesce", truth(&job.MayCoalesce)}, {"enabled", said(enabled)},
	}}
}

// quota reads a duration, or none.
func quota(text string) (time.Duration, error) {
	if text == noQuota {
		return schedule.NoQuota, nil
	}
	return value.ParseDuration(text)
}

// stepFields reads a step, whose name stands under step where it is shared, and under name where it is a job's own.
func stepFields(named, under string, step *steps.Step) *fields {
	return &fields{named: named, under: under, list: []field{
		{named, text(&step.Name)}, {"exec", text(&step.JobExec)}, {"arguments", valueOf(&step.Arguments, "arguments")}, {"timeout", duration(&step.Timeout)}, {"retries", count(&step.Retries)},
		{"retry_wait", duration(&step.RetryWait)}, {"on_failure", text((*string)(&step.OnFailure))},
	}}
}

// stepList reads the steps of a job.
func stepList(into *[]steps.Step, places input.Places) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Kind != yaml.SequenceNode {
			return fmt.Errorf(" is %s; want a list of steps", kindOf(node))
		}
		for i, one := range node.Content {
			var step steps.Step
			if one.Kind == yaml.ScalarNode {
				step.Shared = true
				if err := errors.Join(plain(one), text(&step.Name)(one)); err != nil {
					return &lineError{one.Line, fmt.Errorf("step %d%w", i+1, err)}
				}
			} else {
				f := stepFields("name", fmt.Sprintf("steps[%d].", i), &step)
				if line, err := f.read(one, places); err != nil {
					return &lineError{line, fmt.Errorf("step %d: %w", i+1, err)}
				}
			}
			*into = append(*into, step)
		}
		return nil
	}
}
