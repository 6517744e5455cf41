package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/doctor"
)

// What a receiver was told to be no longer bad is told when it is bad again.
func TestWhatGotBetterIsToldWhenItGetsWorseAgain(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.s.Reminder = time.Hour
	st.look("12:00:00", bad("purge"))
	st.wants(t, "12:02:00", "team: bad: purge", bad("purge"))
	st.wants(t, "12:30:00", "", warn("purge"))
	st.wants(t, "13:02:00", "team: warn still: purge", warn("purge"))
	st.look("13:03:00", bad("purge"))
	st.wants(t, "13:05:00", "team: bad now: purge", bad("purge"))
}

// What was bad for a moment, and is gone since, becomes no alert that wakes somebody.
func TestWhatIsGoneGetsNoWorse(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "am", Sender: alertmanager{}})}
	st.look("12:00:00", warn("clock"))
	st.look("12:02:00", warn("clock"))
	st.look("12:03:00", bad("clock"))
	for minute := 4; minute < 9; minute++ {
		st.wants(t, fmt.Sprintf("12:%02d:00", minute), "am: warn still: clock")
	}
	st.wants(t, "12:09:00", "am: over: clock")
}

// A message that waits to be sent again waits for the end of quiet hours, too.
func TestQuietHoursHoldForWhatDidNotArrive(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team", Quiet: Hours{From: 22 * time.Hour, Until: 7 * time.Hour}}), down: map[string]bool{"team": true}}
	st.look("21:56:00", warn("slower"))
	st.wants(t, "21:58:00", "team not: prescient: warn: slower", warn("slower"))
	st.down, st.stands = nil, map[string]standing{"team": {failing: true}}
	st.wants(t, "22:00:00", "", warn("slower"))
	st.look("22:01:00", warn("slower"), bad("missed"))
	st.wants(t, "22:03:00", "team: bad: missed", warn("slower"), bad("missed"))
	st.wants(t, "06:59:59", "", warn("slower"))
	st.wants(t, "07:00:00", "team: warn: slower", warn("slower"))
}

// A message that its receiver refuses for what it says is sent again and again, and holds no other up.
func TestAMessageThatIsRefusedHoldsNoOtherUp(t *testing.T) {
	for _, rate := range []int{1, 6} {
		st := &story{s: settings(Receiver{Name: "team", Rate: rate}), down: map[string]bool{"team": true}}
		st.look("12:00:00", bad("failing"))
		st.wants(t, "12:02:00", "team not: prescient: bad: failing", bad("failing"))
		id := st.rows[0].message
		st.stands = map[string]standing{"team": {failing: true, failed: map[string]int{id: 1}}}
		all := []doctor.Finding{bad("failing"), bad("clock"), bad("purge")}
		st.look("12:03:00", all...)
		p := decide(at("12:05:00"), see(all, nil), st.rows, st.s, st.stands)
		if len(p.messages) != min(rate, 2) || p.messages[0].ID == id || len(p.messages[0].Items) != 2 || rate > 1 && p.messages[1].ID != id {
			t.Errorf("rate %d: %+v", rate, p.messages)
		}
	}
	// Where it takes nothing, so many wait; what else there is is one message once it takes some.
	st := &story{s: settings(Receiver{Name: "team"}), down: map[string]bool{"team": true}, stands: map[string]standing{"team": {failing: true}}}
	var found []doctor.Finding
	for n := range 20 {
		found = append(found, bad(fmt.Sprintf("code%02d", n)))
		st.look(fmt.Sprintf("12:%02d:00", n), found...)
	}
	ids := make(map[string]bool)
	for _, r := range st.rows {
		ids[r.message] = true
	}
	if delete(ids, ""); len(ids) != mostStuck {
		t.Errorf("%d messages", len(ids))
	}
}

// An id that nobody made, which a receiver may refuse for ever, is replaced.
func TestAnIDThatIsNoneIsReplaced(t *testing.T) {
	for _, id := range []string{"x", "finding-20261120T120000.000000-0123456789abcdef01234567\r\nBcc: eve@example.org", strings.Repeat("z", 64)} {
		st := &story{s: settings(Receiver{Name: "team"}), rows: []row{{code: "missed", receiver: "team", severity: "bad", seenSince: at("11:00:00"), lookedAt: at("12:00:00"), message: id, kind: Came}}}
		st.wants(t, "12:02:00", "team: warn: missed", bad("missed"))
		if r := st.rows[0]; r.message != "" || r.told == nil {
			t.Errorf("%q: %+v", id, r)
		}
	}
	s := settings(Receiver{Name: "team"})
	st := &story{s: s, down: map[string]bool{"team": true}}
	st.look("12:00:00", bad("missed"))
	st.look("12:02:00", bad("missed"))
	if r := st.rows[0].sound(at("12:02:00")); r.message == "" || r.message != st.rows[0].message {
		t.Errorf("an id of its own is none: %+v", st.rows[0])
	}
}

// Where a table is missing there is one finding, and of the others nobody knows.
func TestWithoutTablesNothingIsOver(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.look("12:00:00", bad("missed"))
	st.wants(t, "12:02:00", "team: bad: missed", bad("missed"))
	st.look("12:03:00", bad("tables"))
	st.wants(t, "12:30:00", "team: bad: tables", bad("tables"))
	st.look("12:31:00", bad("missed"))
	st.wants(t, "12:36:00", "team: over: tables", bad("missed"))
}

// Who has a code ignored is not told that it is over.
func TestWhatIsIgnoredSinceIsNotOver(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.look("12:00:00", warn("durability"))
	st.wants(t, "12:02:00", "team: warn: durability", warn("durability"))
	st.s.Ignore = []string{"durability"}
	st.wants(t, "12:03:00", "", warn("durability"))
	st.wants(t, "12:30:00", "", warn("durability"))
	if len(st.rows) > 0 {
		t.Errorf("%+v", st.rows)
	}
}

// The hour that a change of clocks leaves out, or has twice, is as quiet as its time says.
func TestQuietHoursGoByTheClockOnTheWall(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	h := Hours{From: 2*time.Hour + 15*time.Minute, Until: 2*time.Hour + 45*time.Minute, Zone: berlin}
	for moment, quiet := range map[string]bool{
		"2026-03-29T00:59:59Z": false, "2026-03-29T01:00:00Z": false, "2026-03-29T01:30:00Z": false, // 01:59:59, 03:00, 03:30
		"2026-10-25T00:30:00Z": true, "2026-10-25T00:50:00Z": false, "2026-10-25T01:30:00Z": true, // 02:30, 02:50, 02:30 again
		"2026-10-25T01:45:00Z": false,
	} {
		now, err := time.Parse(time.RFC3339, moment)
		if err != nil || h.hold(now) != quiet {
			t.Errorf("%s: %v, %v", moment, h.hold(now), err)
		}
	}
}
