package recurring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/steps"
)

// stepNames are the names of the values of a step in the form. Each step has each of them, so that those of one stand at the same place.
var stepNames = []string{"step_name", "step_is", "step_exec", "step_arguments", "step_timeout", "step_retries", "step_wait", "step_failure"}

// jobFormFields are the names of the values of the form, but the name.
var jobFormFields = slices.Concat([]string{"filled", "version"}, timingNames, stepNames)

// What a step is.
const (
	ownStep    = "own"
	sharedStep = "shared"
)

// jobForm is what stands in it, for its template.
type jobForm struct {
	// New says that there is no such job yet.
	New     bool
	Name    string
	Version uint64
	// Wrong is why the definition that there is cannot be read.
	Wrong string
	timingForm
	Steps []stepForm
	Help  map[string]string
}

// stepForm is a step of the form.
type stepForm struct {
	No                                                                int
	Name, Is, JobExec, Arguments, Timeout, Retries, RetryWait, Failed string
	// First and Last say that it cannot be moved further. Here says that it was moved or added just now.
	First, Last, Here bool
}

// jobFormOf is the form of a definition.
func jobFormOf(d definition.Job) jobForm {
	f := jobForm{Name: d.Name, timingForm: timingFormOf(d.Timing)}
	for _, s := range d.Steps {
		one := stepForm{Name: s.Name, Is: ownStep, JobExec: s.JobExec, Arguments: typable(string(s.Arguments)), Timeout: look.Span(s.TimeoutMS), RetryWait: look.Span(s.RetryWaitMS), Failed: s.OnFailure}
		if s.Retries > 0 {
			one.Retries = strconv.Itoa(s.Retries)
		}
		if s.Shared {
			one.Is = sharedStep
		}
		f.Steps = append(f.Steps, one)
	}
	return f
}

// typable is JSON with the characters that a browser changes as escapes: they stand in its texts alone.
func typable(text string) string {
	if editable(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r >= 0x10000 && !editable(string(r)): // a pair of UTF-16
			fmt.Fprintf(&b, "\\u%04x\\u%04x", 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		case !editable(string(r)):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// jobFilledIn is the form as it was sent.
func jobFilledIn(q *front.Query) jobForm {
	f := jobForm{Name: q.Text("name"), Version: q.Number("version"), timingForm: timingFilledIn(q)}
	for i := range min(len(q.All("step_name")), steps.MaxSteps+1) { // one more is refused where it is read
		at := func(name string) string {
			if all := q.All(name); i < len(all) {
				return all[i]
			}
			return ""
		}
		f.Steps = append(f.Steps, stepForm{Name: at("step_name"), Is: at("step_is"), JobExec: at("step_exec"), Arguments: lines(at("step_arguments")), Timeout: at("step_timeout"),
			Retries: at("step_retries"), RetryWait: at("step_wait"), Failed: at("step_failure")})
	}
	return f
}

// edited is the form after one of its buttons: add, or up, down and remove with the number of a step. What is none of them changes nothing.
func (f jobForm) edited(button string) jobForm {
	f.Steps = slices.Clone(f.Steps)
	what, number, _ := strings.Cut(button, " ")
	i, _ := strconv.Atoi(number)
	i--
	here, there := -1, i >= 0 && i < len(f.Steps)
	switch {
	case what == "add" && len(f.Steps) < steps.MaxSteps:
		f.Steps = append(f.Steps, stepForm{Is: ownStep})
		here = len(f.Steps) - 1
	case what == "remove" && there:
		f.Steps = slices.Delete(f.Steps, i, i+1)
		here = min(i, len(f.Steps)-1)
	case what == "up" && there && i > 0:
		f.Steps[i-1], f.Steps[i], here = f.Steps[i], f.Steps[i-1], i-1
	case what == "down" && there && i < len(f.Steps)-1:
		f.Steps[i+1], f.Steps[i], here = f.Steps[i], f.Steps[i+1], i+1
	}
	if len(f.Steps) == 0 {
		f.Steps = []stepForm{{Is: ownStep}}
	}
	for i := range f.Steps {
		f.Steps[i].No, f.Steps[i].First, f.Steps[i].Last, f.Steps[i].Here = i+1, i == 0, i == len(f.Steps)-1, i == here
	}
	return f
}

// askedByButton says that a button of the form, or of its review, asked for it.
func askedByButton(q *front.Query) bool {
	step := q.Text(front.StepName)
	return step != "" && step != front.Seen
}

// definition is what the form says. The error wraps prescient.ErrInvalid.
func (f jobForm) definition() (definition.Job, error) {
	d := definition.Job{Name: strings.TrimSpace(f.Name), Steps: []definition.Step{}}
	timing, err := f.timing(true)
	d.Timing = timing
	wrong := []error{err}
	for i, s := range f.Steps {
		step, err := s.definition()
		if err != nil {
			err = fmt.Errorf("step %d: %w", i+1, err)
		}
		d.Steps, wrong = append(d.Steps, step), append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return d, err
	}
	return d, d.Validate()
}

// definition is what the form says of a step. Of a shared one it has the name alone.
func (s stepForm) definition() (d definition.Step, err error) {
	d.Name = strings.TrimSpace(s.Name)
	if s.Is == sharedStep {
		d.Shared = true
		return d, nil
	}
	d.JobExec, d.OnFailure = strings.TrimSpace(s.JobExec), s.Failed
	if text := strings.TrimSpace(s.Arguments); text != "" {
		d.Arguments = json.RawMessage(text)
	}
	var wrong []error
	if d.TimeoutMS, err = look.ReadSpan("timeout", s.Timeout); err != nil {
		wrong = append(wrong, err)
	}
	if d.RetryWaitMS, err = look.ReadSpan("wait before a retry", s.RetryWait); err != nil {
		wrong = append(wrong, err)
	}
	if text := strings.TrimSpace(s.Retries); text != "" {
		if d.Retries, err = strconv.Atoi(text); err != nil {
			wrong = append(wrong, fmt.Errorf("%w: retries %.40q: a number from 0 to %d is allowed", prescient.ErrInvalid, text, steps.MaxRetries))
		}
	}
	if d.Retries == 0 {
		d.RetryWaitMS = 0 // which is for retries
	}
	return d, errors.Join(wrong...)
}

// askNewJob shows the form of a job that is not there yet, or that of one like another.
func askNewJob(ctx context.Context, a front.Asked) (front.Shown, error) {
	var f jobForm
	switch {
	case a.Has("filled"):
		f = jobFilledIn(a.Query)
	case a.Has("like"):
		is, err := ops.GetJob.Do(ctx, a.Ops, a.By, ops.JobAsked{JobNamed: ops.JobNamed{Name: a.Text("like")}})
		if err != nil {
			return front.Shown{}, err
		}
		f = jobFormOf(is.Job)
		f.Name = ""
	}
	f = f.edited(a.Text(front.StepName))
	f.New, f.Help = true, help
	return front.Shown{Data: f}, nil
}

// askEditJob shows the form of a job.
func askEditJob(ctx context.Context, a front.Asked) (front.Shown, error) {
	is, err := ops.GetJob.Do(ctx, a.Ops, a.By, ops.JobAsked{JobNamed: ops.JobNamed{Name: a.Text("name")}})
	if err != nil {
		return front.Shown{}, err
	}
	f := jobFormOf(is.Job)
	if a.Has("filled") {
		f = jobFilledIn(a.Query)
		f.Name = is.Name
	}
	if f.Version == 0 || !askedByButton(a.Query) { // it was refused, perhaps as stale: now this is what is told of it
		f.Version = is.Version
	}
	f = f.edited(a.Text(front.StepName))
	f.Wrong, f.Help = is.Wrong, help
	return front.Shown{Title: "Edit job " + is.Name, Data: f}, nil
}

// jobReviewSeen is what the template of a review gets.
type jobReviewSeen struct {
	Name    string
	New     bool
	Enabled bool
	Shared  []ops.SharedStep
	Changes []look.Change
	Ahead   ahead
}

// reviewJob shows what a form comes to.
func reviewJob(ctx context.Context, d front.Doing) (front.Shown, error) {
	f := jobFilledIn(d.Query)
	if err := d.Err(); err != nil {
		return front.Shown{}, err
	}
	is, err := ops.GetJob.Do(ctx, d.Ops, d.By, ops.JobAsked{JobNamed: ops.JobNamed{Name: f.Name}})
	if err != nil {
		return front.Shown{}, err
	}
	if err := front.StillIs(steps.ErrStale, is.Version, f.Version); err != nil {
		return front.Shown{}, err
	}
	seen := jobReviewSeen{Enabled: is.Enabled}
	return seen.of(ctx, d, f, jobFields(is.Job), is.CreatedAt)
}

// reviewNewJob shows what the form of a new job comes to.
func reviewNewJob(ctx context.Context, d front.Doing) (front.Shown, error) {
	return jobReviewSeen{New: true, Enabled: true}.of(ctx, d, jobFilledIn(d.Query), nil, time.Time{})
}

// of fills in what the form comes to, beside the fields that there are.
func (seen jobReviewSeen) of(ctx context.Context, d front.Doing, f jobForm, is []look.Field, made time.Time) (front.Shown, error) {
	to, err := f.definition()
	if err != nil {
		return front.Shown{}, err
	}
	for i, s := range to.Steps {
		if !s.Shared {
			continue
		}
		step, err := ops.GetStep.Do(ctx, d.Ops, d.By, ops.StepNamed{Name: s.Name})
		if errors.Is(err, steps.ErrNotFound) {
			err = fmt.Errorf("%w: step %d: there is no shared step %q", prescient.ErrInvalid, i+1, s.Name)
		}
		if err != nil {
			return front.Shown{}, err
		}
		seen.Shared = append(seen.Shared, step)
	}
	seen.Name, seen.Changes = to.Name, look.Changes(is, jobFields(to))
	seen.Ahead, err = foreseen(ctx, d, to.Timing, "job/"+to.Name, made)
	title := "What changes of job " + to.Name
	if seen.New {
		title = "Job " + to.Name
	}
	return front.Shown{Title: title, Data: seen}, err
}

// createJob adds a job.
func createJob(ctx context.Context, d front.Doing) (front.Done, error) {
	to, err := jobFilledIn(d.Query).definition()
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.CreateJob.Do(ctx, d.Ops, d.By, to)
	return front.Done{Path: "/job", Query: []string{"name", to.Name}, Count: count(did.Created)}, err
}

// editJob puts what the form says in the place of a definition.
func editJob(ctx context.Context, d front.Doing) (front.Done, error) {
	f := jobFilledIn(d.Query)
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	to, err := f.definition()
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.UpdateJob.Do(ctx, d.Ops, d.By, ops.JobUpdate{Job: to, Version: f.Version})
	return front.Done{Path: "/job", Query: []string{"name", to.Name}, Count: count(did.Changed)}, err
}
