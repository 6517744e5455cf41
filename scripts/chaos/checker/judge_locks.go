package checker

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"time"
)

// A worker may call a row and then find it locked. It keeps the answer and tries again for a while; then it gives the bucket
// back, and whoever has it next calls the row again. That is no broken promise where somebody else could have held the lock:
// an app in an open transaction, or a worker that was cut off in one.

// cutsOff is how long a fault lasts that leaves transactions open: its victim neither ends them nor closes its connections.
const cutsOff = time.Second

// lockedBetween says whether somebody else may have had the row of a check locked between two calls of it.
func (j *judgement) lockedBetween(s *story, before, again called) bool {
	return slices.ContainsFunc(j.beside(s, before, again), func(other *story) bool {
		return other.inAnApp(before, again) || j.inAWorkerCutOff(other, before, again)
	})
}

// beside returns the checks whose locks keep a row from being written: those with its key and, where the server locks
// neighbours, those around it in UNIQUE (job_key). A move waits for the row after it; whoever moves the row before it locks
// it. Checks that may have been gone by then are passed over: the next is a neighbour, too.
func (j *judgement) beside(s *story, before, again called) []*story {
	from, to := len(j.byKey), 0
	for i, other := range j.byKey {
		if other.jobKey == s.jobKey {
			from, to = min(from, i), max(to, i+1)
		}
	}
	if from == len(j.byKey) {
		return nil
	}
	if !j.rules.LocksNeighbours {
		return j.byKey[from:to]
	}
	for there := false; from > 0 && !there; from-- {
		there = j.byKey[from-1].thereFrom(before.At, again.At)
	}
	for there := false; to < len(j.byKey) && !there; to++ {
		there = j.byKey[to].thereFrom(before.At, again.At)
	}
	return j.byKey[from:to]
}

// thereFrom says whether a row was surely there, from one moment to another.
func (s *story) thereFrom(from, to time.Duration) bool {
	return s.insert.Result == Committed && s.insert.At < from &&
		(len(s.pending) > 0 || slices.ContainsFunc(s.calls, func(c called) bool { return c.At > to }))
}

// inAnApp says whether an app had the row in a transaction that was open between two calls.
func (s *story) inAnApp(before, again called) bool {
	return slices.ContainsFunc(slices.Concat([]Event{s.insert}, s.cancels, s.moves), func(e Event) bool {
		return e.At-e.Took <= again.At && e.At >= before.At
	})
}

// inAWorkerCutOff says whether another worker had called the row, and was cut off between two calls before anybody knew what
// came of that.
func (j *judgement) inAWorkerCutOff(s *story, before, again called) bool {
	cutOff := func(worker string) bool { // another than this one
		return worker != before.Worker && slices.ContainsFunc(j.faults, func(f Event) bool {
			return f.Worker == worker && f.Took >= cutsOff && f.At <= again.At && f.At+f.Took >= before.At
		})
	}
	if s.timer { // nobody says who calls it
		return slices.ContainsFunc(j.faults, func(f Event) bool { return cutOff(f.Worker) })
	}
	return slices.ContainsFunc(s.calls, func(c called) bool {
		over := func(later called) bool {
			return later.At > c.At && later.At <= before.At && later.Revision != c.Revision
		}
		return c.Worker != before.Worker && c.At < again.At && !slices.ContainsFunc(s.calls, over) &&
			slices.ContainsFunc(j.faults, func(f Event) bool {
				return f.Worker == c.Worker && f.Took >= cutsOff && f.At <= again.At && f.At+f.Took >= max(before.At, c.At)
			})
	})
}

// orderByKey sorts the checks that an app asked for as UNIQUE (job_key) does.
func (j *judgement) orderByKey() {
	for _, s := range j.stories {
		if s.insert.Key != "" {
			s.jobKey = jobKeyOf(j.entityOf(s), s.insert.Key, s.insert.Exec, s.insert.Tag)
			j.byKey = append(j.byKey, s)
		}
	}
	slices.SortFunc(j.byKey, func(a, b *story) int { return bytes.Compare(a.jobKey[:], b.jobKey[:]) })
}

// jobKeyOf computes the key of a row.
func jobKeyOf(entity, key, exec, tag string) (jobKey [16]byte) {
	of, does := sha256.Sum256([]byte(entity+"\x00"+key)), sha256.Sum256([]byte(exec+"\x00"+tag))
	copy(jobKey[:12], of[:])
	copy(jobKey[12:], does[:])
	return jobKey
}
