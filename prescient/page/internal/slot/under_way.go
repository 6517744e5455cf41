package slot

import (
	"slices"
	"time"

	"prescient/prescient/client"
)

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
