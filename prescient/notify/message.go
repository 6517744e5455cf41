package notify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prescient/prescient/doctor"
)

// Message is what a receiver is told at once.
type Message struct {
	// ID is the same in each try.
	ID string
	// To is the name of the receiver, and At when the look was that it comes from, UTC.
	To string
	At time.Time
	// Place is what the installation is called, and Page where its page is; empty for neither.
	Place, Page string
	// LookEvery is the time from one look to the next.
	LookEvery time.Duration
	// Items are what is said; there is one at least.
	Items []Item
}

// Item is what is said of the findings of a code.
type Item struct {
	Kind     Kind            `json:"kind"`
	Code     string          `json:"code"`
	Severity doctor.Severity `json:"severity"`
	// Found is how many findings of the code there are, and About the first 20 names of what they are about.
	Found int      `json:"found"`
	About []string `json:"about,omitempty"`
	// Since is since when the code is seen, and OverSince since when what is over is gone, UTC.
	Since     time.Time  `json:"since"`
	OverSince *time.Time `json:"over_since,omitempty"`
	// Text says what is wrong, on one line of up to 1,000 bytes, and Do what to do. Others' text may be in it, with no control characters.
	Text string `json:"text"`
	Do   string `json:"do,omitempty"`

	row  row
	told *told // what the receiver knows then
}

// Sender takes messages to a receiver. It is called for one message at a time.
type Sender interface {
	// Send returns nil once the receiver has acknowledged the message. After an error it is sent again later, but for a PartError. It returns soon after
	// ctx ends, and its errors show no secret.
	Send(ctx context.Context, m Message) error
}

// PartError is returned where a message has arrived with a part of the receiver, such as some of its addresses: it is not sent again to them.
type PartError struct{ Err error }

// Error implements error.
func (e *PartError) Error() string { return e.Err.Error() }

// Unwrap returns why it has not arrived with the others.
func (e *PartError) Unwrap() error { return e.Err }

// all is a Sender that is given all that holds with each look, as Reminder, and no quiet hours.
type all interface{ wantsAll() }

func (r *Receiver) wantsAll() bool {
	_, is := r.Sender.(all)
	return is
}

// Subject is a message in a few words, of which none are others' text.
func (m Message) Subject() string {
	place := "prescient"
	if m.Place != "" {
		place += " " + m.Place
	}
	if len(m.Items) == 1 {
		return place + ": " + m.Items[0].head()
	}
	worst, over := doctor.SeverityWarn, 0
	for _, i := range m.Items {
		switch {
		case i.Kind == Over:
			over++
		case i.Severity == doctor.SeverityBad:
			worst = i.Severity
		}
	}
	if over == len(m.Items) {
		return fmt.Sprintf("%s: %d findings are over", place, over)
	}
	return fmt.Sprintf("%s: %s: %d findings", place, worst, len(m.Items))
}

// head is an item in a few words.
func (i Item) head() string {
	what := i.Code
	if i.Found > 1 {
		what += fmt.Sprintf(" (%d)", i.Found)
	}
	switch i.Kind {
	case Over:
		return "over: " + what
	case Worse:
		return string(i.Severity) + " now: " + what
	case More:
		return string(i.Severity) + ", more: " + what
	case Reminder:
		return string(i.Severity) + " still: " + what
	case Came:
	}
	return string(i.Severity) + ": " + what
}

// Body is a message as plain text.
func (m Message) Body() string {
	var b strings.Builder
	for _, i := range m.Items {
		fmt.Fprintf(&b, "%s\n  since %s", i.head(), stamp(i.Since))
		if i.OverSince != nil {
			fmt.Fprintf(&b, " until %s", stamp(*i.OverSince))
		}
		fmt.Fprintf(&b, "\n  %s\n", i.Text)
		if i.Do != "" && i.Kind != Over {
			fmt.Fprintf(&b, "  What to do: %s\n", i.Do)
		}
		b.WriteString("\n")
	}
	if m.Page != "" {
		b.WriteString(m.Page + "\n")
	}
	return b.String()
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

func sortedNames(names map[string]time.Time) []string { return slices.Sorted(maps.Keys(names)) }
