package recurring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/schedule"
)

// How the payload of a form is meant.
const (
	keepPayload   = "keep"
	noPayload     = "none"
	textPayload   = "text"
	base64Payload = "base64"
)

// formFields are the names of the values of the form, but the id.
var formFields = append([]string{"filled", "version", "job_exec", "topic", "owner", "payload_is", "payload", "long"}, timingNames...)

// form is what stands in it, for its template.
type form struct {
	// New says that there is no such schedule yet.
	New     bool
	ID      string
	Version uint64
	JobExec string
	Topic   string
	Owner   string

	PayloadIs, Payload string
	Long               bool
	timingForm
	Help map[string]string
}

// formOf is the form of a definition.
func formOf(d definition.Schedule) form {
	f := form{ID: d.ID, JobExec: d.JobExec, Topic: d.Topic, Owner: d.Owner, Long: d.Long, timingForm: timingFormOf(d.Timing), PayloadIs: noPayload}
	switch {
	case d.PayloadBase64 != "" || d.Payload != nil && !editable(*d.Payload):
		f.PayloadIs = keepPayload
	case d.Payload != nil:
		f.PayloadIs, f.Payload = textPayload, *d.Payload
	}
	return f
}

// longestEdited is how long a payload may be to stand in a form.
const longestEdited = 64 << 10

// editable says that a browser sends a text back as it was: it makes other ends of lines of some, and drops what is no character of HTML.
func editable(text string) bool {
	return len(text) <= longestEdited && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
	})
}

// filledIn is the form as it was sent.
func filledIn(q *front.Query) form {
	return form{ID: q.Text("id"), Version: q.Number("version"), JobExec: q.Text("job_exec"), Topic: q.Text("topic"), Owner: q.Text("owner"),
		PayloadIs: q.Text("payload_is"), Payload: lines(q.Text("payload")), Long: q.Has("long"), timingForm: timingFilledIn(q)}
}

// lines are the lines of a text of a form, whose ends browsers make two characters each.
func lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// definition is what the form says; is has the payload where that is to be kept. The error wraps prescient.ErrInvalid.
func (f form) definition(is definition.Schedule) (definition.Schedule, error) {
	d := definition.Schedule{ID: f.ID, JobExec: strings.TrimSpace(f.JobExec), Topic: strings.TrimSpace(f.Topic), Owner: f.Owner, Long: f.Long}
	timing, err := f.timing(f.Long)
	d.Timing = timing
	wrong := []error{err}
	switch f.PayloadIs {
	case noPayload, "":
	case keepPayload:
		d.Payload, d.PayloadBase64 = is.Payload, is.PayloadBase64
	case textPayload:
		d.Payload = &f.Payload
	case base64Payload:
		d.PayloadBase64 = strings.Join(strings.Fields(f.Payload), "")
	default:
		wrong = append(wrong, fmt.Errorf("%w: payload %.40q: keep, none, text and base64 are allowed", prescient.ErrInvalid, f.PayloadIs))
	}
	if err := errors.Join(wrong...); err != nil {
		return d, err
	}
	return d, d.Validate(is)
}

// askNew shows the form of a schedule that is not there yet, or that of one like another.
func askNew(ctx context.Context, a front.Asked) (front.Shown, error) {
	f := form{PayloadIs: noPayload}
	switch {
	case a.Has("filled"):
		f = filledIn(a.Query)
	case a.Has("like"):
		is, err := ops.GetSchedule.Do(ctx, a.Ops, a.By, ops.ScheduleAsked{ID: a.Text("like")})
		if err != nil {
			return front.Shown{}, err
		}
		f = formOf(is.Schedule)
		if f.PayloadIs == keepPayload {
			f.PayloadIs = noPayload
		}
	}
	f.New, f.Help = true, help
	return front.Shown{Data: f}, nil
}

// askEdit shows the form of a schedule.
func askEdit(ctx context.Context, a front.Asked) (front.Shown, error) {
	is, err := ops.GetSchedule.Do(ctx, a.Ops, a.By, ops.ScheduleAsked{ID: a.Text("id")})
	if err != nil {
		return front.Shown{}, err
	}
	f := formOf(is.Schedule)
	f.Version = is.Version
	if a.Has("filled") {
		f = filledIn(a.Query)
		f.Version = is.Version // of what is told now, should it have been refused as stale
	}
	f.Help = help
	return front.Shown{Title: "Edit schedule " + is.ID, Data: f}, nil
}

// reviewSeen is what the template of a review gets.
type reviewSeen struct {
	ID      string
	New     bool
	Enabled bool
	Changes []look.Change
	Ahead   ahead
}

// review shows what a form comes to.
func review(ctx context.Context, d front.Doing) (front.Shown, error) {
	f := filledIn(d.Query)
	if err := d.Err(); err != nil {
		return front.Shown{}, err
	}
	is, err := ops.GetSchedule.Do(ctx, d.Ops, d.By, ops.ScheduleAsked{ID: f.ID})
	if err != nil {
		return front.Shown{}, err
	}
	if err := front.StillIs(schedule.ErrStale, is.Version, f.Version); err != nil {
		return front.Shown{}, err
	}
	to, err := f.definition(is.Schedule)
	if err != nil {
		return front.Shown{}, err
	}
	seen := reviewSeen{ID: is.ID, Enabled: is.Enabled, Changes: look.Changes(scheduleFields(is.Schedule, true), scheduleFields(to, true))}
	seen.Ahead, err = foreseen(ctx, d, to.Timing, to.ID, is.CreatedAt)
	return front.Shown{Title: "What changes of schedule " + is.ID, Data: seen}, err
}

// reviewNew shows what the form of a new schedule comes to.
func reviewNew(ctx context.Context, d front.Doing) (front.Shown, error) {
	f := filledIn(d.Query)
	to, err := f.definition(definition.Schedule{})
	if err != nil {
		return front.Shown{}, err
	}
	seen := reviewSeen{ID: to.ID, New: true, Enabled: true, Changes: look.Changes(nil, scheduleFields(to, true))}
	seen.Ahead, err = foreseen(ctx, d, to.Timing, to.ID, time.Time{})
	return front.Shown{Title: "Schedule " + cmp.Or(to.ID, "without an id"), Data: seen}, err
}

// foreseen is when a schedule of an id would fire. The error wraps prescient.ErrInvalid where it is refused.
func foreseen(ctx context.Context, d front.Doing, to definition.Timing, id string, made time.Time) (ahead, error) {
	is, err := aheadOf(ctx, front.Asked{Ops: d.Ops, By: bare(d.By), Query: d.Query}, to, id, made)
	switch {
	case err != nil:
	case is.Wrong != "":
		err = fmt.Errorf("%w: %s", prescient.ErrInvalid, is.Wrong)
	case is.TooFine != "":
		err = fmt.Errorf("%w: %s", prescient.ErrInvalid, is.TooFine)
	}
	return is, err
}

// create adds a schedule.
func create(ctx context.Context, d front.Doing) (front.Done, error) {
	to, err := filledIn(d.Query).definition(definition.Schedule{})
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.CreateSchedule.Do(ctx, d.Ops, d.By, to)
	return front.Done{Path: "/schedule", Query: []string{"id", to.ID}, Count: count(did.Created)}, err
}

// edit puts what the form says in the place of a definition.
func edit(ctx context.Context, d front.Doing) (front.Done, error) {
	f := filledIn(d.Query)
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	is, err := ops.GetSchedule.Do(ctx, d.Ops, d.By, ops.ScheduleAsked{ID: f.ID})
	if err != nil {
		return front.Done{}, err
	}
	to, err := f.definition(is.Schedule)
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.UpdateSchedule.Do(ctx, d.Ops, d.By, ops.ScheduleUpdate{Schedule: to, Version: f.Version})
	return front.Done{Path: "/schedule", Query: []string{"id", f.ID}, Count: count(did.Changed)}, err
}
