package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"prescient/prescient/doctor"
)

// nobody takes messages, and has them nowhere.
type nobody struct{}

func (nobody) Send(context.Context, Message) error { return nil }

func at(clock string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-11-20 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

func bad(code string, about ...string) doctor.Finding {
	return doctor.Finding{Code: code, Severity: doctor.SeverityBad, Text: "It is bad.", Do: "Mend it.", About: about}
}

func warn(code string, about ...string) doctor.Finding {
	f := bad(code, about...)
	f.Severity = doctor.SeverityWarn
	return f
}

func settings(receivers ...Receiver) *Settings {
	for i := range receivers {
		if receivers[i].Sender == nil {
			receivers[i].Sender = nobody{}
		}
	}
	s := &Settings{Receivers: receivers}
	if err := s.complete(); err != nil {
		panic(err)
	}
	return s
}

// story is what looks found one after the other, and what was told.
type story struct {
	s      *Settings
	rows   []row
	stands map[string]standing
	down   map[string]bool // receivers that cannot be reached
}

// look looks, and takes what is to be told for acknowledged but by who is down. It answers what was said: "12:00:00 team: bad: failing".
func (st *story) look(clock string, findings ...doctor.Finding) (said []string) {
	now := at(clock)
	p := decide(now, see(findings, st.s.Ignore), st.rows, st.s, st.stands)
	put := func(r row, forget bool) {
		st.rows = slices.DeleteFunc(st.rows, func(had row) bool { return had.code == r.code && had.receiver == r.receiver })
		if !forget {
			st.rows = append(st.rows, r)
		}
	}
	for _, r := range p.write {
		put(r, false)
	}
	for _, r := range p.forget {
		put(r, true)
	}
	for _, m := range p.messages {
		if st.down[m.To] {
			said = append(said, m.To+" not: "+m.Subject())
			continue
		}
		said = append(said, m.To+": "+strings.TrimPrefix(m.Subject(), "prescient: "))
		for _, i := range m.Items {
			r := i.row
			r.told, r.message, r.kind = i.told, "", ""
			put(r, i.Kind == Over)
		}
	}
	return said
}

func (st *story) wants(t *testing.T, clock, want string, findings ...doctor.Finding) {
	t.Helper()
	if got := strings.Join(st.look(clock, findings...), ", "); got != want {
		t.Errorf("%s: %q; want %q", clock, got, want)
	}
}

func TestAFindingIsToldOnceItHolds(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.wants(t, "12:00:00", "", bad("failing", "export"))
	st.wants(t, "12:01:00", "", bad("failing", "export"))
	st.wants(t, "12:02:00", "team: bad: failing", bad("failing", "export"))
	st.wants(t, "12:03:00", "", bad("failing", "export"))
	// Not seen for a moment, it is not over.
	st.wants(t, "12:04:00", "")
	st.wants(t, "12:08:59", "")
	st.wants(t, "12:09:00", "team: over: failing")
	st.wants(t, "12:10:00", "")
	if len(st.rows) != 0 {
		t.Errorf("%+v are left", st.rows)
	}
}

func TestAFindingThatComesAndGoesIsToldOnceOrNotAtAll(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	for minute := range 30 { // every other look: it never holds
		var found []doctor.Finding
		if minute%2 == 0 {
			found = append(found, bad("overdue"))
		}
		st.wants(t, fmt.Sprintf("12:%02d:00", minute), "", found...)
	}
	for minute, want := range []string{"", "", "team: bad: overdue"} {
		st.wants(t, fmt.Sprintf("13:%02d:00", minute), want, bad("overdue"))
	}
	for minute := 3; minute < 60; minute++ { // told, it is never gone for long enough
		var found []doctor.Finding
		if minute%5 == 0 {
			found = append(found, bad("overdue"))
		}
		st.wants(t, fmt.Sprintf("13:%02d:00", minute), "", found...)
	}
}

func TestWhatGetsWorseIsToldOnce(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.look("12:00:00", warn("purge"))
	st.wants(t, "12:02:00", "team: warn: purge", warn("purge"))
	st.wants(t, "12:03:00", "", bad("purge"))
	st.wants(t, "12:04:00", "", warn("purge")) // it was bad for a moment
	st.wants(t, "12:05:00", "", bad("purge"))
	st.wants(t, "12:07:00", "team: bad now: purge", bad("purge"))
	st.wants(t, "12:08:00", "", warn("purge"))
	st.wants(t, "12:09:00", "", bad("purge"))
	st.wants(t, "12:12:00", "", bad("purge"))
}

func TestWhatHoldsIsToldAgain(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.s.Reminder = time.Hour
	st.look("12:00:00", bad("missed"))
	st.wants(t, "12:02:00", "team: bad: missed", bad("missed"))
	st.wants(t, "13:01:00", "", bad("missed"))
	st.wants(t, "13:02:00", "team: bad still: missed", bad("missed"))
	st.s.Reminder = -1
	st.wants(t, "18:00:00", "", bad("missed"))
}

func TestMoreOfTheSameIsToldAtMostEveryTenMinutes(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.look("12:00:00", bad("failing", "a"))
	st.wants(t, "12:02:00", "team: bad: failing", bad("failing", "a"))
	both := []doctor.Finding{bad("failing", "a"), bad("failing", "b")}
	st.wants(t, "12:03:00", "", both...)
	st.wants(t, "12:11:00", "", both...)
	st.wants(t, "12:12:00", "team: bad, more: failing (2)", both...)
	// What was told stays told, in whatever order they come and go.
	st.wants(t, "12:30:00", "", bad("failing", "b"))
	st.wants(t, "12:50:00", "", bad("failing", "a"))
	st.wants(t, "12:55:00", "", both...)
}

func TestThousandsAreOneMessage(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	failing := func(n int) (all []doctor.Finding) {
		for i := range n {
			all = append(all, bad("failing", fmt.Sprintf("exec%05d", i)))
		}
		return all
	}
	st.look("12:00:00", failing(5000)...)
	st.wants(t, "12:02:00", "team: bad: failing (5000)", failing(5000)...)
	if r := st.rows[0]; len(st.rows) != 1 || len(r.names) != mostNames || len(r.told.names) != mostNames ||
		r.text != "It is bad. There are 4999 more like this: exec00001, exec00002, exec00003, exec00004, exec00005, …." {
		t.Errorf("%d rows, %+v", len(st.rows), r)
	}
	st.wants(t, "12:20:00", "", failing(9999)...)
	st.wants(t, "12:30:00", "team: bad, more: failing (10000)", failing(10000)...)
	st.wants(t, "12:45:00", "", failing(10000)[7000:]...)
}

func TestAtMostSoManyMessagesAMinuteTheRestIsSummedUp(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team", Rate: 3})}
	found := []doctor.Finding{warn("agents"), warn("clock"), bad("missed"), bad("overdue"), warn("settings")}
	st.look("12:00:00", found...)
	st.stands = map[string]standing{"team": {sent: 3}}
	st.wants(t, "12:02:00", "", found...)
	st.stands = nil
	st.wants(t, "12:03:00", "team: bad: missed, team: bad: overdue, team: warn: 3 findings", found...)
	st.wants(t, "12:04:00", "", found...)
	st.look("12:05:00")
	st.wants(t, "12:10:00", "team: over: missed, team: over: overdue, team: 3 findings are over")
}

func TestInQuietHoursOnlyWhatIsBadIsTold(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	night := Hours{From: 22 * time.Hour, Until: 7 * time.Hour, Zone: berlin}
	silent := night
	silent.All = true
	st := &story{s: settings(Receiver{Name: "a", Quiet: night}, Receiver{Name: "b", Quiet: silent})}
	found := []doctor.Finding{warn("slower"), bad("missed")}
	st.look("20:58:00", found...) // 21:58 in Berlin
	st.wants(t, "21:00:00", "a: bad: missed", found...)
	st.wants(t, "23:00:00", "", warn("slower"))
	st.wants(t, "23:30:00", "a: over: missed", warn("slower"))
	st.wants(t, "05:59:59", "", warn("slower"))
	for i := range st.rows { // a day later
		st.rows[i].seenSince = at("01:00:00")
	}
	st.wants(t, "06:00:00", "a: warn: slower, b: warn: slower", warn("slower"))
}

func TestQuietHoursAreThoseOfTheirZone(t *testing.T) {
	for _, test := range []struct {
		from, until time.Duration
		clock       string
		quiet       bool
	}{
		{22 * time.Hour, 7 * time.Hour, "21:59:59", false}, {22 * time.Hour, 7 * time.Hour, "22:00:00", true}, {22 * time.Hour, 7 * time.Hour, "06:59:59", true}, {22 * time.Hour, 7 * time.Hour, "07:00:00", false},
		{12 * time.Hour, 13 * time.Hour, "12:30:00", true}, {12 * time.Hour, 13 * time.Hour, "13:00:00", false}, {0, 0, "00:00:00", false}, {5 * time.Hour, 5 * time.Hour, "05:00:00", false},
	} {
		if got := (Hours{From: test.from, Until: test.until}).hold(at(test.clock)); got != test.quiet {
			t.Errorf("%s to %s at %s: %v", test.from, test.until, test.clock, got)
		}
	}
}

func TestAReceiverIsToldFromItsSeverityOn(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "all"}, Receiver{Name: "pager", Least: doctor.SeverityBad})}
	st.look("12:00:00", warn("purge"))
	st.wants(t, "12:02:00", "all: warn: purge", warn("purge"))
	st.look("12:03:00", bad("purge"))
	st.wants(t, "12:05:00", "all: bad now: purge, pager: bad: purge", bad("purge"))
	st.look("12:06:00", warn("purge"))
	st.wants(t, "12:11:00", "pager: over: purge", warn("purge"))
}

func TestWhatWasNotLookedAtIsNotOver(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.look("12:00:00", bad("schedules.timers"), bad("missed"))
	st.look("12:02:00", bad("schedules.timers"), bad("missed"))
	blind := []doctor.Finding{{Code: "schedules", Severity: doctor.SeverityWarn, Unread: true, Text: "This could not be looked at"}, {Code: "missed", Severity: doctor.SeverityUnseen}}
	st.wants(t, "12:03:00", "", blind...)
	st.wants(t, "13:00:00", "team: warn: schedules", blind...)
	st.look("13:01:00")
	st.wants(t, "13:06:00", "team: over: missed, team: over: schedules.timers, team: over: schedules")
}

func TestNobodyIsToldOfWhatIsIgnored(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.s.Ignore = []string{"durability", "schedules"}
	found := []doctor.Finding{warn("durability"), bad("schedules.zones"), {Code: "clock", Severity: doctor.SeverityOK}}
	st.look("12:00:00", found...)
	st.wants(t, "12:05:00", "", found...)
	if len(st.rows) > 0 {
		t.Errorf("%+v", st.rows)
	}
}

// A message that was not acknowledged is sent again with its id, and what it says; others wait for it, and are summed up once it arrives.
func TestWhatDidNotArriveIsSentAgainWithItsID(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team", Rate: 2}, Receiver{Name: "other"}), down: map[string]bool{"team": true}}
	st.look("12:00:00", bad("missed"))
	st.wants(t, "12:02:00", "team not: prescient: bad: missed, other: bad: missed", bad("missed"))
	id := st.rows[0].message
	if id == "" {
		id = st.rows[1].message
	}
	st.stands = map[string]standing{"team": {failing: true, waits: true}}
	st.wants(t, "12:03:00", "", bad("missed"), bad("clock"), bad("purge"))
	st.stands = map[string]standing{"team": {failing: true}}
	// It is gone, but nobody knows whether the message has arrived.
	st.look("12:04:00", bad("clock"), bad("purge"), bad("leases"))
	p := decide(at("12:05:00"), see([]doctor.Finding{bad("clock"), bad("purge"), bad("leases")}, nil), st.rows, st.s, st.stands)
	if i := slices.IndexFunc(p.messages, func(m Message) bool { return m.To == "team" }); i < 0 || p.messages[i].ID != id || len(p.messages[i].Items) != 1 || p.messages[i].Items[0].Kind != Came {
		t.Errorf("%q, %+v", id, p.messages)
	}
	st.down, st.stands = nil, nil
	st.wants(t, "12:06:00", "team: bad: missed, team: bad: 3 findings, other: bad: clock, other: bad: leases, other: bad: purge", bad("clock"), bad("purge"), bad("leases"))
	st.wants(t, "12:09:00", "team: over: missed, other: over: missed", bad("clock"), bad("purge"), bad("leases"))
}

// A receiver is told of others that cannot be reached, and never of itself.
func TestOthersAreToldOfAReceiverThatCannotBeReached(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "a", Least: doctor.SeverityBad}, Receiver{Name: "b"})}
	st.look("12:00:00", bad(Code, "b"))
	st.wants(t, "12:02:00", "a: bad: notify", bad(Code, "b"))
	if !slices.ContainsFunc(st.rows, func(r row) bool { return r.receiver == "b" && r.code == Code && r.told == nil }) {
		t.Errorf("the doctor does not find it: %+v", st.rows)
	}
	st.look("12:03:00")
	st.wants(t, "12:08:00", "a: over: notify")
	if len(st.rows) > 0 {
		t.Errorf("%+v", st.rows)
	}
}

// An Alertmanager is sent all that holds with each look, whatever it was told.
func TestAnAlertmanagerIsSentAllThatHolds(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "am", Sender: alertmanager{}, Rate: 1})}
	st.look("12:00:00", bad("missed"))
	st.wants(t, "12:02:00", "am: bad: missed", bad("missed"), warn("clock"))
	st.wants(t, "12:03:00", "am: bad still: missed", bad("missed"), warn("clock"))
	st.wants(t, "12:04:00", "am: bad: 2 findings", bad("missed"), warn("clock"))
	st.wants(t, "12:05:00", "am: bad: 2 findings", warn("clock")) // gone for a moment
	st.wants(t, "12:10:00", "am: warn: 2 findings", warn("clock"))
	st.wants(t, "12:11:00", "am: warn still: clock", warn("clock"))
}

// Rows whose times are ahead, names that are none, or receivers that nobody has keep nothing from being told, and are forgotten.
func TestRowsThatMakeNoSenseDoNoHarm(t *testing.T) {
	ahead := at("12:00:00").AddDate(100, 0, 0)
	st := &story{s: settings(Receiver{Name: "team"}), rows: []row{
		{code: "missed", receiver: "team", seenSince: ahead, badSince: &ahead, lookedAt: ahead, told: &told{at: ahead, severity: "warn"}},
		{code: "nothing", receiver: "team", seenSince: ahead, goneSince: &ahead, lookedAt: ahead, told: &told{at: ahead, severity: "bad"}},
		{code: "missed", receiver: "stranger", seenSince: ahead, lookedAt: ahead},
		{code: "clock", receiver: "left", lookedAt: at("12:00:00").AddDate(0, 0, -1)},
		{code: "clock", receiver: "elsewhere", lookedAt: at("11:00:00")},
	}}
	st.wants(t, "12:00:00", "team: warn still: missed", bad("missed")) // when it was told nobody knows
	st.wants(t, "12:02:00", "team: bad now: missed", bad("missed"))
	st.wants(t, "12:05:00", "team: over: nothing", bad("missed"))
	if len(st.rows) != 2 {
		t.Errorf("%+v", st.rows)
	}
}

func TestNothingIsWrittenWhereNothingChanged(t *testing.T) {
	st := &story{s: settings(Receiver{Name: "team"})}
	st.look("12:00:00", bad("missed"))
	st.look("12:02:00", bad("missed"))
	another := bad("missed")
	another.Text = "It is bad: 17."
	if p := decide(at("12:03:00"), see([]doctor.Finding{another}, nil), st.rows, st.s, nil); len(p.write)+len(p.forget)+len(p.messages) > 0 {
		t.Errorf("%+v", p)
	}
	if p := decide(at("12:13:00"), see([]doctor.Finding{another}, nil), st.rows, st.s, nil); len(p.write) != 1 {
		t.Errorf("%+v", p)
	}
}

// Others' text is one line, and cannot look like something else.
func TestTextOfOthersIsOneLine(t *testing.T) {
	f := bad("failing", "a\r\nBcc: x@example.com")
	f.Text = "It says: \x1b[31mred\r\n\r\n\u202egnp.exe\xff" + strings.Repeat("é", 2000)
	s := see([]doctor.Finding{f}, nil).seen["failing"]
	if strings.ContainsAny(s.text+s.names[0], "\r\n\x1b\u202e") || utf8.RuneCountInString(s.text) != mostText || !strings.HasPrefix(s.text, "It says: [31mred gnp.exe�é") || s.names[0] != "a Bcc: x@example.com" {
		t.Errorf("%q, %q", s.text, s.names)
	}
}
