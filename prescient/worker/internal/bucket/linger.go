package bucket

import (
	"maps"
	"slices"
	"time"
)

// lingerAfter is how long a bucket that has nothing but calls under way keeps its place.
const lingerAfter = flushEvery / 5

// flushAfter is how long an answer waits for company before it is committed: not for long where only slow calls are left to
// come, before the bucket gives way to another.
func (b *Bucket) flushAfter() time.Duration {
	if !b.lingering && b.onlyWaits() {
		return lingerAfter
	}
	return flushEvery
}

// onlyWaits says whether the bucket has its place for nothing but rows whose calls take their time, or are to be made again. All rows of
// job_execs that are not slow were read then.
func (b *Bucket) onlyWaits() bool {
	called := b.stillFlying() || len(b.alone) > 0
	if b.careful {
		return called
	}
	return b.streams[0].dry && (called || b.waitsForRoom())
}

// waitsForRoom says whether the bucket has nothing in memory, and nothing to do but to read rows for which there is no
// room.
func (b *Bucket) waitsForRoom() bool {
	if b.reading != nil {
		return false
	}
	waits := false
	for _, s := range b.streams {
		if s.outstanding > 0 || !s.dry && !s.waits {
			return false
		}
		waits = waits || s.waits
	}
	return waits
}

// allCalled says whether nothing is left to be read or called: the rest is to commit it.
func (b *Bucket) allCalled() bool {
	reads := b.reading != nil || slices.ContainsFunc(b.streams, func(s *stream) bool { return !s.dry })
	return !reads && len(b.alone) == 0 && !b.stillFlying()
}

// giveWay has another bucket run beside one that only waits, which lingers from then on. Where too many linger already, and
// nothing is lost by it, the bucket is to be left instead.
func (b *Bucket) giveWay() {
	if !b.onlyWaits() {
		return
	}
	if b.waitsForRoom() {
		for _, s := range b.streams[1:] {
			b.crowdedOut = b.crowdedOut || s.waits && s.crowd.full(s.lingers)
		}
		if b.crowdedOut {
			return
		}
	}
	if b.lingering {
		return
	}
	if !b.careful {
		unanswered := b.unanswered()
		for name, n := range unanswered {
			if n > 0 && b.streamOf(name) == b.streams[0] {
				b.ownStream(name).dry = true
			}
		}
		for _, s := range b.streams[1:] {
			if s.lingers = s.crowd != nil && (!s.dry || unanswered[s.JobExec] > 0); s.lingers {
				s.crowd.linger()
			}
		}
	}
	b.linger()
}

// unanswered counts the rows in memory whose calls have not come back, by job_exec. The bucket waits for those, and not for
// the job_execs of rows that are only to be committed.
func (b *Bucket) unanswered() map[string]int {
	n := maps.Clone(b.outstanding)
	for _, r := range b.contested {
		n[r.JobExec]--
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.answers {
		n[r.JobExec]--
	}
	return n
}

// endWait has the bucket wait no longer for a job_exec of which nothing is left.
func (b *Bucket) endWait(s *stream) {
	if s.dry && s.outstanding == 0 {
		b.leaveCrowd(s)
	}
}

// leaveCrowd takes the bucket off those that wait for a job_exec, and tells where that makes room.
func (b *Bucket) leaveCrowd(s *stream) {
	if s.lingers && s.crowd.leave() && b.Shared.OnRoom != nil {
		b.Shared.OnRoom()
	}
	s.lingers = false
}

// linger gives the bucket's place to another.
func (b *Bucket) linger() {
	b.lingering = true
	if b.OnLinger != nil {
		b.OnLinger()
	}
}

// stopLingering takes what the bucket has off the counts.
func (b *Bucket) stopLingering() {
	for _, s := range b.streams {
		s.count(-s.outstanding, -s.payload)
		b.leaveCrowd(s)
	}
}
