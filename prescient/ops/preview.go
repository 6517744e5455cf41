package ops

import (
	"context"
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule/timeline"
)

// PreviewAsked is what is to be looked at before it is created.
type PreviewAsked struct {
	Crontabs []string  `query:"crontab,explode" required:"true" minItems:"1" maxItems:"200" doc:"A crontab; more by giving it again."`
	Zone     string    `query:"zone" default:"UTC" doc:"The zone of the crontabs, such as Europe/Berlin."`
	From     time.Time `query:"from" doc:"After this time; now by default."`
	Count    int       `query:"count" default:"10" minimum:"1" maximum:"1000" doc:"How many times."`
	MadeAt   time.Time `query:"made_at" doc:"When the schedule was made: what @every counts from. From by default."`
	ID       string    `query:"id" maxLength:"128" doc:"The id of the schedule, which its jitter goes by."`
	JitterMS int64     `query:"jitter_ms" minimum:"0" maximum:"316224000000" doc:"The bound of its jitter."`
}

// Occurrence is a time at which something fires.
type Occurrence struct {
	At    time.Time `json:"at"`
	Local string    `json:"local" doc:"The same as the clock shows it in the zone, with its offset."`
}

// Preview is when crontabs fire.
type Preview struct {
	Times []Occurrence `json:"times" doc:"Fewer than were asked for where no more are to come."`
	Words []string     `json:"words" doc:"Each crontab in words."`
	// ClocksChange is for times before and after it.
	ClocksChange *time.Time `json:"clocks_change,omitempty" doc:"When the clocks of the zone are changed next, after from."`
	TooFine      string     `json:"too_fine,omitempty" doc:"Why a schedule with these is refused unless it may coalesce: two occurrences are in one slot."`
}

// PreviewSchedule says when crontabs fire.
var PreviewSchedule = query("schedules.preview", Viewer, "Say when crontabs fire next.", func(ctx context.Context, q asked, in PreviewAsked) (out Preview, err error) {
	from := in.From
	if from.IsZero() {
		if from, err = q.client.Now(ctx, q.db); err != nil {
			return out, err
		}
	}
	if err := checkTimes(in.From, in.MadeAt); err != nil {
		return out, err
	}
	made := in.MadeAt
	if made.IsZero() {
		made = from
	}
	line, err := timeline.Parse(in.Crontabs, in.Zone, made)
	if err != nil {
		return out, err
	}
	for _, one := range in.Crontabs {
		out.Words = append(out.Words, timeline.Words(one))
	}
	if _, change := from.In(line.Zone()).ZoneBounds(); !change.IsZero() {
		change = change.UTC()
		out.ClocksChange = &change
	}
	later := timeline.Jitter(in.ID, time.Duration(in.JitterMS)*time.Millisecond).Truncate(time.Second)
	out.Times = []Occurrence{}
	for at := range line.After(from.Add(-later)) {
		at = at.Add(later)
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		out.Times = append(out.Times, Occurrence{at.UTC(), at.In(line.Zone()).Format(time.RFC3339Nano)})
		if len(out.Times) == in.Count {
			break
		}
	}
	if err := line.TooFine(q.tables.Grid, from, later); errors.Is(err, prescient.ErrInvalid) {
		out.TooFine = err.Error()
	}
	return out, nil
})
