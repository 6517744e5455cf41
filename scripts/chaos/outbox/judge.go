package outbox

import (
	"fmt"
	"strconv"
	"strings"
)

// Fate is what an app knows of the transaction of an event.
type Fate int

// The fates.
const (
	Unknown    Fate = iota // the answer to its COMMIT was lost
	Committed              // it was answered
	RolledBack             // before any COMMIT
)

// Told is an event as the app that published it knows it.
type Told struct {
	ID, Key string
	// Number rises within a key: the transaction of a later one began after that of the one before had ended.
	Number int
	Fate   Fate
	// Bad is refused by the broker for good.
	Bad bool
}

// Consumed is a message as a consumer got it, in the broker's order.
type Consumed struct{ ID, Key, Body string }

// Ledger is all that is known at the end.
type Ledger struct {
	Told     []Told
	Consumed []Consumed
	Aside    map[string]bool // ids in event_set_aside
	Waiting  int             // events in the outbox
	Counted  int             // published, by event_count
	// Ticking are the schedules, which fire each second.
	Ticking []string
	// Calm says that nothing was broken: nothing is published twice.
	Calm bool
}

// Judge returns what of the promises was broken.
func Judge(l Ledger) (findings []string) {
	broken := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	told := make(map[string]Told, len(l.Told))
	for _, t := range l.Told {
		told[t.ID] = t
	}
	first := make(map[string]Consumed)
	last := make(map[string]int) // number of the last first publication, by key
	for _, c := range l.Consumed {
		before, repeated := first[c.ID]
		switch {
		case repeated && before != c:
			broken("unique: %s was published as %+v and as %+v", c.ID, before, c)
		case repeated && l.Calm:
			broken("once: %s was published twice, though nothing was broken", c.ID)
		}
		if repeated {
			continue
		}
		first[c.ID] = c
		number, ticks := tickOf(c, l.Ticking)
		if !ticks {
			t, known := told[c.ID]
			switch {
			case !known:
				broken("made up: %s was published, and no app knows it", c.ID)
				continue
			case t.Fate == RolledBack:
				broken("rolled back: %s was published", c.ID)
			case t.Key != c.Key || c.Body != bodyOf(c.ID):
				broken("content: %s was published as %+v", c.ID, c)
			}
			number = t.Number
		}
		was, is := last[c.Key]
		switch {
		case is && number <= was:
			broken("order: %s of key %s was published first after number %d", c.ID, c.Key, was)
		case is && ticks && number != was+1:
			broken("occurrence: after %d of schedule %s came %d", was, c.Key, number)
		}
		last[c.Key] = max(number, was)
	}
	for _, t := range l.Told {
		_, is := first[t.ID]
		switch aside := l.Aside[t.ID]; {
		case t.Fate != Committed:
		case t.Bad && (is || !aside):
			broken("refused: %s is to be set aside; published %t, set aside %t", t.ID, is, aside)
		case !t.Bad && !is:
			broken("lost: %s was committed, and never published", t.ID)
		}
	}
	for id := range l.Aside {
		if t, known := told[id]; !known || !t.Bad || t.Fate == RolledBack {
			broken("aside: %s was set aside, and the broker refuses no such event", id)
		}
	}
	if l.Waiting > 0 {
		broken("waiting: %d events are left in the outbox", l.Waiting)
	}
	if l.Counted != len(first) {
		broken("count: %d events are counted as published; there were %d", l.Counted, len(first))
	}
	return findings
}

// tickOf is the unix second of a schedule's event.
func tickOf(c Consumed, ticking []string) (second int, is bool) {
	for _, id := range ticking {
		if rest, of := strings.CutPrefix(c.ID, id+"-"); of && c.Key == id {
			second, err := strconv.Atoi(rest)
			return second, err == nil
		}
	}
	return 0, false
}

// bodyOf is the payload of an app's event.
func bodyOf(id string) string { return "about " + id }
