package attest

import (
	"fmt"
	"strings"
	"time"

	"prescient/slots"
)

// Verdict is what a report comes to.
type Verdict string

// The verdicts, from the best to the worst.
const (
	// Proven: each slot that is over was served in time, one at least, and history, where it was read, has as many ends of each.
	Proven Verdict = "proven"
	// NotProven: no slot is over, or one was late, is unfinished, was kept from being served, or is not known.
	NotProven Verdict = "not proven"
	// Refuted: a slot was missed, or ledger and history differ.
	Refuted Verdict = "refuted"
)

// Report is what is known of the slots of a span. Times are UTC.
type Report struct {
	Verdict Verdict `json:"verdict"`
	// From is inclusive, Before exclusive.
	From   time.Time `json:"from"`
	Before time.Time `json:"before"`
	// Now is the time by the database's clock.
	Now         time.Time    `json:"now"`
	Resolutions []Resolution `json:"resolutions"`
	// Spans are runs of alike slots, in their order.
	Spans []Span `json:"spans"`
	// MoreSpans are those that were left out, by their states; Totals has their slots.
	MoreSpans map[State]int `json:"more_spans,omitempty"`
	Totals    Totals        `json:"totals"`
	Ends      Ends          `json:"ends"`
	// Unread is how many entries of the audit cannot be read: they explain nothing, and with one nothing is proven.
	Unread int `json:"unread,omitempty"`
	// RestsOn says what was read, CannotSee what no reading tells.
	RestsOn   []string `json:"rests_on"`
	CannotSee []string `json:"cannot_see"`
}

// Resolution is one of the span.
type Resolution struct {
	From       time.Time `json:"from"`
	Resolution string    `json:"resolution"`
}

// Totals are those of all slots.
type Totals struct {
	Slots  int           `json:"slots"`
	States map[State]int `json:"states"`
	Counts
}

// String is what there is, by state: 96 slots: 95 served, 1 missed; 1,234 ended.
func (t Totals) String() string {
	var states []string
	for _, state := range []State{Served, Late, Unfinished, Missed, Paused, Reslotting, OffGrid, NotYet, NotKnown} {
		if n := t.States[state]; n > 0 {
			states = append(states, many(int64(n))+" "+words[state])
		}
	}
	text := many(int64(t.Slots)) + " slots"
	if len(states) > 0 {
		text += ": " + strings.Join(states, ", ")
	}
	return text + "; " + t.Counts.String()
}

// Counts are the books of slots.
type Counts struct {
	Ended     int64 `json:"ended"`
	Moved     int64 `json:"moved"`
	PutOff    int64 `json:"put_off"`
	Dropped   int64 `json:"dropped"`
	Takeovers int64 `json:"takeovers"`
}

func (c *Counts) add(r *row) {
	c.Ended += r.Ended
	c.Moved += r.Moved
	c.PutOff += r.PutOff
	c.Dropped += r.Dropped
	c.Takeovers += r.Takeovers
}

// String lists what there is.
func (c Counts) String() string {
	parts := []string{fmt.Sprintf("%s ended", many(c.Ended))}
	for _, one := range []struct {
		n    int64
		text string
	}{{c.Moved, "moved"}, {c.PutOff, "put off"}, {c.Dropped, "answers dropped"}, {c.Takeovers, "takeovers"}} {
		if one.n > 0 {
			parts = append(parts, many(one.n)+" "+one.text)
		}
	}
	return strings.Join(parts, ", ")
}

// Span is a run of alike slots.
type Span struct {
	State State     `json:"state"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Slots int       `json:"slots"`
	// By is what ran them: run, work, sweep or roll-forward.
	By string `json:"by,omitempty"`
	// Workers are the names of some of those that had buckets of them; the ledger keeps the last of each bucket.
	Workers []string `json:"workers,omitempty"`
	// BegunMS is how late the last bucket of the latest was begun.
	BegunMS int64 `json:"begun_ms,omitempty"`
	// Finished is when the last of them was.
	Finished *time.Time `json:"finished,omitempty"`
	Counts
	// Waits says that checks still wait for them.
	Waits  bool   `json:"waits,omitempty"`
	Reason string `json:"reason,omitempty"`

	grid slots.Grid
}

// namedWorkers is how many workers a span names.
const namedWorkers = 4

// String is the span for people: 13:00–17:45: 20 slots served by work, begun at most 0.3 s late, 1,234 ended.
func (s Span) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", s.when())
	if s.Slots == 1 {
		b.WriteString(words[s.State])
	} else {
		fmt.Fprintf(&b, "%s slots %s", many(int64(s.Slots)), words[s.State])
	}
	if s.By != "" {
		fmt.Fprintf(&b, " by %s", s.By)
		if n := len(s.Workers); n > namedWorkers {
			fmt.Fprintf(&b, " (%s and others)", strings.Join(s.Workers[:namedWorkers], ", "))
		} else if n > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(s.Workers, ", "))
		}
		most := "at most "
		if s.Slots == 1 {
			most = ""
		}
		fmt.Fprintf(&b, ", begun %s%s late", most, seconds(s.BegunMS))
		if s.Finished != nil && s.State != Served {
			fmt.Fprintf(&b, ", finished %s", stamp(*s.Finished))
		}
		fmt.Fprintf(&b, ", %s", s.Counts)
	}
	if s.Reason != "" {
		fmt.Fprintf(&b, ": %s", s.Reason)
	}
	if s.Waits && s.State != Unfinished {
		b.WriteString("; checks wait")
	}
	return b.String()
}

// words are the states, for people.
var words = map[State]string{Served: "served", Late: "served late", Unfinished: "unfinished", Missed: "missed", Paused: "not served, as everything was paused",
	Reslotting: "not served, as the resolution was being changed", OffGrid: "off the grid, run", NotYet: "not over yet", NotKnown: "not known"}

func (s Span) when() string {
	switch first, last := stamp(s.First), stamp(s.Last); {
	case s.Slots == 1:
		return first
	case first[:10] == last[:10]:
		return first + "–" + last[11:]
	default:
		return first + " – " + last
	}
}

// stamp shows the time of a slot: to the minute, or to the second where it has one.
func stamp(t time.Time) string {
	if t.Second() == 0 && t.Nanosecond() == 0 {
		return t.UTC().Format("2006-01-02 15:04")
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// seconds are milliseconds for people.
func seconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// many is a number with commas.
func many(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
