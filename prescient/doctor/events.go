package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// How much examineEvents looks at.
const (
	outboxProbe = 10_000
	asideProbe  = 100
)

// OldEvent is how long an event may wait in the outbox.
const OldEvent = 5 * time.Minute

// waiting is what waits in the outbox for a topic.
type waiting struct {
	Topic        string     `db:"topic"`
	Events       int        `db:"events"`
	Oldest       time.Time  `db:"oldest"`
	FailingSince *time.Time `db:"failing_since"`
	FailedAt     *time.Time `db:"failed_at"`
	EventID      *string    `db:"event_id"`
	Reason       *string    `db:"reason"`
	Now          time.Time  `db:"read_at"`
}

// examineEvents looks for events that nobody publishes, or cannot, and for those that were refused for good.
func (l *look) examineEvents(ctx context.Context) {
	var topics []waiting
	var shards []struct {
		Shard      int    `db:"shard"`
		Token      uint64 `db:"token"`
		Forwarder  string `db:"forwarder"`
		Lives      bool   `db:"lives"`
		Forwarders int    `db:"forwarders"`
	}
	var aside, strange []string
	l.rows(ctx, &topics, "event/backlog", outboxProbe)
	l.rows(ctx, &shards, "event/shards")
	l.rows(ctx, &aside, "operate/set_aside", asideProbe+1)
	l.rows(ctx, &strange, "operate/strange_shards", namedSchedules)
	forwarders := 0
	for _, s := range shards {
		forwarders = s.Forwarders
	}
	old, oldest := 0, time.Duration(0)
	for _, w := range topics {
		age := w.Now.Sub(w.Oldest)
		if w.Reason != nil {
			l.say(bad("events.failing", fmt.Sprintf("Events of topic %s have not been published since %s, the oldest is %s old. Event %.200q: %.300s",
				w.Topic, w.FailingSince.Format(time.RFC3339), age.Round(time.Second), *w.EventID, *w.Reason), "Mend what the reason names. No event is lost."))
			continue
		}
		if age > OldEvent {
			old += w.Events
		}
		oldest = max(oldest, age)
	}
	wait := counted(old, "event waits", "events wait")
	switch {
	case old > 0 && l.eventsHalted:
		l.say(warn("events.old", fmt.Sprintf("%s in the outbox, the oldest for %s, since the publishing of events is paused.", wait, oldest.Round(time.Second)),
			"See what is paused (paused), and resume it once the reason is gone."))
	case old > 0 && forwarders == 0:
		l.say(bad("events.old", fmt.Sprintf("%s in the outbox, the oldest for %s, and nobody publishes any.", wait, oldest.Round(time.Second)),
			"Say in events.routes where events go, and start `work` or `forward` with these routes."))
	case old > 0:
		l.say(warn("events.old", fmt.Sprintf("%s in the outbox, the oldest for %s.", wait, oldest.Round(time.Second)),
			"Read the logs of `work` and `forward`: brokers are slow, or refuse the first event of a key."))
	}
	if len(strange) > 0 {
		l.say(bad("events.shard", "Events are in a shard above 63, where nobody publishes them, such as "+strings.Join(quoted(strange), ", ")+".",
			"Find the plain SQL that wrote these rows, and UPDATE them: shard is CONV(LEFT(SHA2(event_key, 256), 2), 16, 10) MOD 64."))
	}
	if n := len(aside); n > 0 {
		were := counted(min(n, asideProbe), "event was set aside, since a broker refused it", "events were set aside, since brokers refused them")
		if n > asideProbe {
			were = "More than " + were
		}
		l.say(warn("events.refused", fmt.Sprintf("%s, such as %s.", were,
			strings.Join(quoted(aside[:min(n, namedSchedules)]), ", ")), "`event set-aside` lists these events with their numbers and the reasons. `event resend` sends them again, `event drop` drops them."))
	}
	l.orFine(ctx, "events", fmt.Sprintf("no event is set aside, no topic fails, and no event has waited for more than %s", OldEvent),
		reach{"the first %s events of the outbox", outboxProbe, "event_outbox", "seq", "", nil})
}

// examineNotify looks for receivers that could not be told of findings. Others may have been told that.
func (l *look) examineNotify(ctx context.Context) {
	var untold []struct{ Receiver, Text string }
	l.rows(ctx, &untold, "finding/untold")
	f := bad("notify", "", "See that the address in notify.receivers is right and that it answers. What was to be told is kept, and sent once it can be.")
	for _, u := range untold {
		f.Text, f.About = u.Text, append(f.About, u.Receiver)
		l.found = []Finding{f}
	}
	l.orFine(ctx, "notify", "no receiver of findings is known to be out of reach")
}

func quoted(texts []string) (list []string) {
	for _, text := range texts {
		list = append(list, fmt.Sprintf("%.200q", text))
	}
	return list
}
