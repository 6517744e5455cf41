package definition

import (
	"context"
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule/timeline"
	"prescient/slots"
)

// Previewed is what is to be looked at before it is created.
type Previewed struct {
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

// Preview says when crontabs fire after a time. The error wraps prescient.ErrInvalid.
func (a Previewed) Preview(ctx context.Context, grid slots.Grid, from time.Time) (out Preview, err error) {
	made := a.MadeAt
	if made.IsZero() {
		made = from
	}
	line, err := timeline.Parse(a.Crontabs, a.Zone, made)
	if err != nil {
		return out, err
	}
	for _, one := range a.Crontabs {
		out.Words = append(out.Words, timeline.Words(one))
	}
	if _, change := from.In(line.Zone()).ZoneBounds(); !change.IsZero() {
		change = change.UTC()
		out.ClocksChange = &change
	}
	later := timeline.Jitter(a.ID, time.Duration(a.JitterMS)*time.Millisecond).Truncate(time.Second)
	out.Times = []Occurrence{}
	for at := range line.After(from.Add(-later)) {
		at = at.Add(later)
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		out.Times = append(out.Times, Occurrence{at.UTC(), at.In(line.Zone()).Format(time.RFC3339Nano)})
		if len(out.Times) == a.Count {
			break
		}
	}
	if err := line.TooFine(grid, from, later); errors.Is(err, prescient.ErrInvalid) {
		out.TooFine = err.Error()
	}
	return out, nil
}
