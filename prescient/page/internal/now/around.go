package now

import (
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/forecast"
)

// slot is one of those around now.
type slot struct {
	At time.Time
	// Done are checks that ended or moved, PutOff those that went to a later slot without a call.
	Done, PutOff int64
	// Due are those that wait for it, by the forecast.
	Due int64
	// Parts of it are there in the ledger, and Finished of them are.
	Parts, Finished int
	// Hole says that it is over and no worker was there.
	Hole bool
	// Late says that by the forecast it does not end in time.
	Late bool
	// Ahead says that it has not come yet.
	Ahead bool
}

// span is what slots around now are made of.
type span struct {
	now        time.Time
	resolution time.Duration
	back, on   int // slots
	// ledger are the buckets of the slots that have come; cut says that there are more than were read, the earliest are missing.
	ledger []client.Bucket
	cut    bool
	// older says that the ledger has slots from before, so that one without a bucket was left out.
	older bool
	parts []forecast.Part
}

// grace is how long after its slot a worker may come before that counts as a hole.
const grace = prescient.DefaultSweepGrace

// around says what became and becomes of the slots around now, the earliest first.
func (s span) around() (all []slot) {
	current := s.now.UTC().Truncate(s.resolution) // a resolution divides the day
	buckets, forecasts := make(map[time.Time][]client.Bucket), make(map[time.Time]forecast.Part)
	for _, b := range s.ledger {
		buckets[b.Slot.UTC()] = append(buckets[b.Slot.UTC()], b)
	}
	for _, p := range s.parts {
		forecasts[p.Start.UTC()] = p
	}
	first := current.Add(-time.Duration(s.back) * s.resolution)
	if s.cut && len(s.ledger) > 0 { // the earliest that was read may be there in part
		first = s.ledger[len(s.ledger)-1].Slot.UTC().Add(s.resolution)
	}
	seen := s.older || s.cut
	for at := first; !at.After(current.Add(time.Duration(s.on) * s.resolution)); at = at.Add(s.resolution) {
		one := slot{At: at, Ahead: at.After(s.now)}
		for _, b := range buckets[at] {
			one.Parts++
			if b.FinishedAt != nil {
				one.Finished++
			}
			one.Done += done(b)
			one.PutOff += b.PutOff
		}
		seen = seen || one.Parts > 0
		one.Hole = seen && one.Parts == 0 && !one.Ahead && s.now.Sub(at) > grace
		if part, is := forecasts[at]; is && !at.Before(current) {
			one.Due = max(0, part.Due+part.Occurrences-one.Done)
			one.Late = part.Verdict.Late()
		}
		all = append(all, one)
	}
	return all
}

// done are the checks of a bucket that ended, or moved after a call.
func done(b client.Bucket) int64 {
	n := b.Moved
	for _, ended := range b.Ends {
		n += ended
	}
	return n
}

// underWay is a slot whose run is not over.
type underWay struct {
	Slot            time.Time
	Begun           time.Time
	Parts, Finished int
	Done, Due       int64
	// Workers have parts of it; Nobody says how many parts nobody has.
	Workers []string
	Nobody  int
	// ToGo is how long it takes yet at the rate up to now; 0 where that is not known.
	ToGo time.Duration
}

// underWay are the slots of which a part is begun and not finished, the latest first.
func (s span) underWay() (all []underWay) {
	due := make(map[time.Time]int64)
	for _, p := range s.parts {
		due[p.Start.UTC()] = p.Due + p.Occurrences
	}
	at := make(map[time.Time]int)
	for _, b := range s.ledger {
		i, is := at[b.Slot.UTC()]
		if !is {
			i = len(all)
			at[b.Slot.UTC()] = i
			all = append(all, underWay{Slot: b.Slot.UTC(), Parts: b.Buckets, Due: due[b.Slot.UTC()]})
		}
		all[i].add(b)
	}
	open := all[:0]
	for _, u := range all {
		if u.Finished >= u.Parts {
			continue
		}
		if took := s.now.Sub(u.Begun); !u.Begun.IsZero() && took > 0 && u.Done > 0 && u.Due > u.Done {
			u.ToGo = time.Duration(float64(took) * float64(u.Due-u.Done) / float64(u.Done))
		}
		open = append(open, u)
	}
	return open
}

func (u *underWay) add(b client.Bucket) {
	u.Done += done(b)
	switch {
	case b.FinishedAt != nil:
		u.Finished++
	case b.Held:
		if !slices.Contains(u.Workers, b.Worker) {
			u.Workers = append(u.Workers, b.Worker)
		}
	default:
		u.Nobody++
	}
	if b.StartedAt != nil && (u.Begun.IsZero() || b.StartedAt.Before(u.Begun)) {
		u.Begun = b.StartedAt.UTC()
	}
}
