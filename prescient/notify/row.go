package notify

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"prescient/prescient/doctor"
)

// Kind is what a message says of a finding.
type Kind string

// The kinds.
const (
	Came     Kind = "new"
	Worse    Kind = "worse"    // it was warn, and is bad
	More     Kind = "more"     // it is about more than was told
	Reminder Kind = "reminder" // it is still there
	Over     Kind = "over"
)

// kinds are all of them, the most urgent first.
var kinds = []Kind{Came, Worse, More, Over, Reminder}

const (
	// moreEvery is how often a receiver is told at most that a code is about more.
	moreEvery = 10 * time.Minute
	// freshFor is for how long the time of the last look need not be written.
	freshFor = 10 * time.Minute
	// forgetAfter is after how long without a look rows are forgotten that are nobody's here.
	forgetAfter = 24 * time.Hour
)

// row is one of the table finding: what a receiver was told of a code, and is to be told.
type row struct {
	code, receiver string
	severity       doctor.Severity
	found          int
	names          map[string]time.Time // since when each is seen
	text, remedy   string
	seenSince      time.Time
	badSince       *time.Time
	goneSince      *time.Time
	lookedAt       time.Time
	told           *told
	message        string // empty where none is to be sent
	kind           Kind   // of that
	other          bool   // of a code that there is not, or of a receiver that nobody has here
}

// told is what a receiver knows.
type told struct {
	at       time.Time
	severity doctor.Severity
	found    int
	names    []string
}

// sees is the row after a look that has found its code.
func (r row) sees(now time.Time, s seen) row {
	if r.seenSince.IsZero() {
		r.seenSince = now
	}
	names := make(map[string]time.Time, len(s.names))
	for _, name := range s.names {
		names[name] = now
		if since, had := r.names[name]; had {
			names[name] = since
		}
	}
	r.names, r.severity, r.found, r.text, r.remedy, r.goneSince = names, s.severity, s.found, s.text, s.remedy, nil
	switch {
	case s.severity != doctor.SeverityBad:
		r.badSince = nil
	case r.badSince == nil:
		r.badSince = &now
	}
	r.lookedAt = now
	return r
}

// misses is the row after a look that has not found its code.
func (r row) misses(now time.Time) row {
	if r.goneSince == nil {
		r.goneSince = &now
	}
	r.lookedAt = now
	return r
}

// due is what the receiver is to be told, by the time alone; empty for nothing.
func (r row) due(now time.Time, s *Settings) Kind {
	held := func(since time.Time) bool { return now.Sub(since) >= s.Hold }
	switch {
	case r.goneSince != nil:
		if r.told != nil && now.Sub(*r.goneSince) >= s.Gone {
			return Over
		}
	case r.code == Code && r.onlyItself():
		// It cannot be told that it cannot be told.
	case r.told == nil:
		if held(r.seenSince) {
			return Came
		}
	case r.level(now, s) == doctor.SeverityBad && r.told.severity != doctor.SeverityBad:
		return Worse
	case now.Sub(r.told.at) >= moreEvery && r.more(held):
		return More
	case s.Reminder > 0 && now.Sub(r.told.at) >= s.Reminder:
		return Reminder
	}
	return ""
}

// level is how bad it has been for long enough. What is not seen any more gets no worse.
func (r row) level(now time.Time, s *Settings) doctor.Severity {
	if r.goneSince != nil {
		now = *r.goneSince
	}
	if r.badSince != nil && now.Sub(*r.badSince) >= s.Hold {
		return doctor.SeverityBad
	}
	return doctor.SeverityWarn
}

// more says whether the code is about a name that was not told, or there are so many more findings that names say little.
func (r row) more(held func(since time.Time) bool) bool {
	for name, since := range r.names {
		if held(since) && !slices.Contains(r.told.names, name) && len(r.told.names) < mostNames && !(r.code == Code && name == r.receiver) {
			return true
		}
	}
	return r.found > mostNames && r.found >= 2*r.told.found
}

// onlyItself says whether the receiver alone is what it is about.
func (r row) onlyItself() bool {
	_, is := r.names[r.receiver]
	return is && len(r.names) == 1
}

// tells is what the receiver knows once a message was acknowledged. Names that it was told stay told for as long as the code is not over; whether it is
// bad is what was said last: what has got better, and was said to be, is told once it gets worse again.
func (r row) tells(now time.Time, s *Settings) *told {
	t := &told{at: now, severity: r.level(now, s), found: r.found}
	if r.told != nil {
		t.names = r.told.names
		t.found = max(t.found, r.told.found)
	}
	for _, name := range slices.Sorted(maps.Keys(r.names)) {
		if len(t.names) < mostNames && !slices.Contains(t.names, name) {
			t.names = append(slices.Clip(t.names), name)
		}
	}
	return t
}

// differs says whether a row is to be written in the place of another. What a text counts changes with each look, and alone is no reason.
func (r row) differs(from row) bool {
	same := func(a, b *time.Time) bool { return (a == nil) == (b == nil) && (a == nil || a.Equal(*b)) }
	return r.severity != from.severity || !r.seenSince.Equal(from.seenSince) || !same(r.badSince, from.badSince) || !same(r.goneSince, from.goneSince) || r.message != from.message ||
		r.kind != from.kind || !maps.EqualFunc(r.names, from.names, time.Time.Equal) || r.lookedAt.Sub(from.lookedAt) >= freshFor
}

// idForm is that of the ids of messages: what is none a receiver may refuse for ever, and it is no id that any of these was sent with.
var idForm = regexp.MustCompile(`^finding-[0-9]{8}T[0-9]{6}\.[0-9]{6}-[0-9a-f]{24}$`)

// sound is a row as a look may have written it. Times that are ahead, by who wrote them or a clock that was put back, would keep it from being told;
// so would the id of a message that is none, or a kind that is none.
func (r row) sound(now time.Time) row {
	at := func(t time.Time) time.Time {
		if t.After(now) {
			return now
		}
		return t
	}
	atOrNil := func(t *time.Time) *time.Time {
		if t != nil {
			was := at(*t)
			return &was
		}
		return nil
	}
	r.seenSince, r.badSince, r.goneSince = at(r.seenSince), atOrNil(r.badSince), atOrNil(r.goneSince)
	if r.lookedAt.After(now) {
		r.lookedAt = time.Time{}
	}
	if r.told != nil && r.told.at.Sub(now) >= moreEvery {
		t := *r.told
		t.at = time.Time{} // long ago: else it would be told nothing more until then
		r.told = &t
	}
	if !idForm.MatchString(r.message) || !slices.Contains(kinds, r.kind) {
		r.message, r.kind = "", ""
	}
	names := make(map[string]time.Time, min(len(r.names), mostNames))
	for _, name := range slices.Sorted(maps.Keys(r.names)) {
		if len(names) < mostNames {
			names[clipTo(name, mostName)] = at(r.names[name])
		}
	}
	r.names, r.text, r.remedy = names, clip(r.text), clip(r.remedy)
	return r
}
