package demo

import (
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/event/broker"
	"prescient/prescient/schedule"
)

// chatty is how many deeds a second are told of one by one; with more of them each second has one line.
const chatty = 8

// teller tells the story of a demonstration, and keeps its side of the books. It is for concurrent use.
type teller struct {
	out    *output.Printer
	json   bool
	colour bool
	each   bool // line by line, not second by second

	mu        sync.Mutex
	inserted  map[string]bool
	alerts    map[orders.Level]int
	escalated map[int64]bool
	shipments int
	events    map[string]bool // that the consumer was told of
	second    time.Time       // that is being told
	this      tally           // of that second
}

// tally counts what happened in a second.
type tally struct{ placed, shipped, alerts, escalations int }

func newTeller(prog *program.Program, w io.Writer, f demoFlags) *teller {
	return &teller{out: output.To(w), json: prog.JSON, colour: prog.Colourful(w), inserted: make(map[string]bool),
		alerts: make(map[orders.Level]int), escalated: make(map[int64]bool), events: make(map[string]bool),
		each: float64(f.orders)/f.lastsFor.Seconds() <= chatty}
}

// line prints a line; the caller holds the lock. With --json the story is not told.
func (t *teller) line(format string, args ...any) {
	if !t.json {
		t.out.Text(fmt.Sprintf(format+"\n", args...))
	}
}

// paint colours a text where there are colours.
func (t *teller) paint(c text.Colors, s string) string {
	if !t.colour || len(c) == 0 {
		return s
	}
	codes := make([]string, len(c))
	for i, code := range c {
		codes[i] = strconv.Itoa(int(code))
	}
	return "\x1b[" + strings.Join(codes, ";") + "m" + s + "\x1b[0m"
}

var (
	faint  = text.Colors{text.Faint}
	bold   = text.Colors{text.Bold}
	yellow = text.Colors{text.Bold, text.FgYellow}
	red    = text.Colors{text.Bold, text.FgRed}
	green  = text.Colors{text.FgGreen}
)

// note says what is going on.
func (t *teller) note(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line("%s", t.paint(faint, what))
}

// begin introduces the story.
func (t *teller) begin(server string, f demoFlags, page string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line("%s on %s, for %s (--seed %d)", t.paint(bold, "prescient demo"), words.Clean(server), f.lastsFor, f.seed)
	t.line("  An order is inserted together with its check, in one transaction: look at it %s after it was placed.", f.alertAfter)
	t.line("  That time is rounded up to a slot; slots are one second apart. A worker runs each slot when it comes.")
	t.line("  An order that is not shipped by then is alerted about, and escalated %s after it was placed.", f.escalateAfter)
	t.line("  A shipment publishes an event in its own transaction: a forwarder hands it to a consumer once that has committed.")
	t.line("  Beside that, a schedule reports each %s how many orders are open.", reportEvery)
	if page != "" {
		t.line("  %s is its page, on which you may do everything", t.paint(bold, page))
	}
	t.line("")
}

// event tells of one thing that happened to an order; the caller holds the lock.
func (t *teller) event(at time.Time, order int64, c text.Colors, what, why string) {
	t.line("%s  order %-4d %s %s", t.paint(faint, at.UTC().Format("15:04:05.0")), order,
		t.paint(c, fmt.Sprintf("%-9s", what)), t.paint(faint, why))
}

func (t *teller) placed(p orders.Placed, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inserted[prescient.Entity{Name: orders.EntityName, Key: strconv.FormatInt(p.ID, 10)}.String()] = true
	if t.tick(now); t.each {
		t.event(now, p.ID, nil, "placed", "check due "+p.Check.DueAt.Format("15:04:05.000")+", in the slot "+
			p.Check.Slot.Format("15:04:05"))
	}
	t.this.placed++
}

func (t *teller) shipped(d deed, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	how := "its check will find nothing to do"
	switch {
	case t.escalated[d.order]:
		how = "too late: it was escalated, and its check has ended"
	case d.cancel:
		how = "its check is cancelled in the same transaction"
	}
	if t.tick(now); t.each {
		t.event(now, d.order, green, "shipped", how)
	}
	t.this.shipped++
	t.shipments++
}

func (t *teller) alert(a orders.Alert) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alerts[a.Level]++
	t.tick(a.RaisedAt)
	c, what, why := yellow, "ALERT", "not shipped in time"
	if a.Level == orders.Escalated {
		c, what, why = red, "ESCALATED", "still not shipped; the check ends"
		t.this.escalations++
		t.escalated[a.OrderID] = true
	} else {
		t.this.alerts++
	}
	if t.each {
		t.event(a.RaisedAt, a.OrderID, c, what, fmt.Sprintf("%s (slot %s, run %s after it)", why, a.Slot.Format("15:04:05"),
			a.RaisedAt.Sub(a.Slot).Round(time.Millisecond)))
	}
}

// told tells of an event as its consumer saw it.
func (t *teller) told(m broker.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.events[m.ID] {
		return
	}
	t.events[m.ID] = true
	if t.each {
		t.line("%s  consumer   %s", t.paint(faint, m.GeneratedAt.UTC().Format("15:04:05.0")),
			t.paint(faint, fmt.Sprintf("topic %s, id %s, key %s: %s", m.Topic, m.ID, m.Key, m.Body)))
	}
}

// eventCounts returns how many orders were shipped, and how many shipments the consumer was told of.
func (t *teller) eventCounts() (shipped, told int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shipments, len(t.events)
}

// report tells of a run of the schedule.
func (t *teller) report(run schedule.Run, open int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tick(run.Job.CalledAt)
	t.line("%s  report     %s", t.paint(faint, run.At.Format("15:04:05.0")), t.paint(faint, fmt.Sprintf("%d orders are open (schedule %s, each %s)", open, run.Schedule, reportEvery)))
}

// tick prints the line of a second once the next one has begun; the caller holds the lock.
func (t *teller) tick(now time.Time) {
	second := now.Truncate(time.Second)
	if !second.After(t.second) {
		return
	}
	if !t.each && t.this != (tally{}) {
		t.line("%s  placed %5d  shipped %5d  %s  %s", t.paint(faint, t.second.UTC().Format("15:04:05")), t.this.placed, t.this.shipped,
			t.paint(yellow, fmt.Sprintf("alerts %5d", t.this.alerts)), t.paint(red, fmt.Sprintf("escalated %5d", t.this.escalations)))
	}
	t.second, t.this = second, tally{}
}

// counts returns what was inserted, by entity, and how many alerts were told of.
func (t *teller) counts() (inserted map[string]bool, alerts, escalations int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.inserted), t.alerts[orders.Primary], t.alerts[orders.Escalated]
}
