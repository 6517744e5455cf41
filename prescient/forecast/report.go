package forecast

import "time"

// Grain is how long what is told of takes.
type Grain string

// The grains.
const (
	OfSlot Grain = "slot"
	OfDay  Grain = "day"
)

// How says how rows were counted.
type How string

// The ways.
const (
	Exact     How = "exact"     // each row
	Sampled   How = "sample"    // a share of the keys
	Estimated How = "optimiser" // EXPLAIN; divided among job_execs as a few rows were
	AtLeast   How = "least"     // there are more
)

// Verdict says whether a slot or day ends in time.
type Verdict string

// The verdicts.
const (
	Fits     Verdict = "fits"     // with calls of unknown run time as no time: a tenth at most
	Next     Verdict = "next"     // it ends after the next one begins
	SLA      Verdict = "sla"      // its last call starts later than the SLA of a job_exec of it
	Unserved Verdict = "unserved" // no live agent serves it
	Unknown  Verdict = "unknown"  // nobody knows how long more than a tenth of its calls take, and without these it is not late
)

// Late says whether it ends too late.
func (v Verdict) Late() bool { return v == Next || v == SLA }

// Report is the forecast.
type Report struct {
	MadeAt time.Time `json:"made_at"`
	Age    Millis    `json:"age_ms"`
	Worker string    `json:"worker"`
	TookMS int64     `json:"took_ms"`
	// From and Before are the slots that are told one by one.
	From   time.Time `json:"slots_from"`
	Before time.Time `json:"slots_before"`
	Read   int64     `json:"entries_read"`
	// Schedules were read, and stand for SchedulesAll: where there are more, the optimiser's estimate.
	Schedules    int64 `json:"schedules"`
	SchedulesAll int64 `json:"schedules_all"`
	// Slots are those from From to before Before, and of later days the busiest ones. The first is the slot that was now, with what was overdue.
	Slots []Part `json:"slots"`
	// Days are those of UTC, the first from the next slot on.
	Days []Part `json:"days"`
}

// Millis is a duration that JSON has in milliseconds.
type Millis int64

// Duration returns it as one.
func (m Millis) Duration() time.Duration { return time.Duration(m) * time.Millisecond }

// Part is a slot or day.
type Part struct {
	Start       time.Time `json:"start"`
	Due         int64     `json:"due"`
	Low         int64     `json:"low"`
	High        int64     `json:"high"`
	Occurrences int64     `json:"occurrences"`
	How         How       `json:"how"`
	Fit
	Lines []Line `json:"job_execs"`
}

// Fit says when a slot or day is done.
type Fit struct {
	// Concurrency is how many calls the live agents which serve it make at a time.
	Concurrency int64 `json:"concurrency"`
	// Unknown are calls whose run time nobody knows. They count as no time.
	Unknown     int64      `json:"unknown"`
	BeginsAt    *time.Time `json:"begins_at"`
	LastStartAt *time.Time `json:"last_start_at"`
	EndsAt      *time.Time `json:"ends_at"`
	Verdict     Verdict    `json:"verdict"`
	// Over is by how much it is late.
	Over Millis `json:"over_ms"`
	// JobExec is the one whose SLA is broken.
	JobExec string `json:"job_exec,omitempty"`
}

// Line is what a slot or day is to do of a job_exec.
type Line struct {
	JobExec string `json:"job_exec"`
	// Due are pending checks. Low and High are two standard errors away from that, where there is one.
	Due  int64 `json:"due"`
	Low  int64 `json:"low"`
	High int64 `json:"high"`
	// Repeats are how many of these are to come back, by what became of such calls in the last day.
	Repeats int64 `json:"repeats"`
	// Occurrences are those of schedules that are not pending yet.
	Occurrences int64 `json:"occurrences"`
	How         How   `json:"how"`
}

// Worst is the slot that ends latest beyond what it may, of those that are told; false where all end in time, as far as is known.
func (r Report) Worst() (worst Part, late bool) {
	for _, p := range r.Slots {
		if p.Verdict.Late() && (!late || p.Over > worst.Over) {
			worst, late = p, true
		}
	}
	return worst, late
}
