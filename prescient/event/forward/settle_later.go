package forward

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient/internal/store"
)

// mostPatient is how many statements about events that could not be settled are under way at a time: each may wait for a lock, and has one of
// the connections that leases need.
const mostPatient = 2

// settleFree settles those of some events that nobody has locked; the others go on beside them. Where it is not they that are locked, it is
// a table, or the row that counts a topic: then each topic goes on by itself.
func (f *Forwarder) settleFree(some []settled, why error) {
	free, locked, _, err := f.unlocked(some)
	switch {
	case err != nil:
		f.later(some, why)
	case len(locked) == 0:
		for topic, part := range byTopic(some) {
			f.topics.keeps(topic, f.pass == nil) // a pass leaves what it meets, and tries the rest of a topic
			f.later(part, why)
		}
	default:
		f.later(locked, why)
		if len(free) > 0 {
			f.settleSome(free)
		}
	}
}

// keptApart has the events of topics that somebody has locked go on beside the others, and returns the others: a transaction that waits for
// such a topic has the leases of its shards locked meanwhile.
func (f *Forwarder) keptApart(some []settled) (others []settled) {
	kept := f.topics.keptNow()
	if len(kept) == 0 {
		return some
	}
	for topic, part := range byTopic(some) {
		if kept[topic] {
			f.later(part, errKept)
		} else {
			others = append(others, part...)
		}
	}
	return others
}

// errKept is why events of a topic are not settled with those of others.
var errKept = errors.New("somebody has the count of its topic locked, or all of a table")

// countable waits for the counts of events' topics, with nothing locked meanwhile that others wait for. Once it has had them, nobody keeps them.
func (f *Forwarder) countable(some []settled, now time.Time) error {
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), f.statementTime())
	defer cancel()
	none := make(map[string][2]int)
	for topic := range byTopic(some) {
		none[topic] = [2]int{}
	}
	if err := f.count(ctx, f.db, none, now); err != nil {
		return err
	}
	for topic := range none {
		f.topics.keeps(topic, false)
	}
	return nil
}

// unlocked divides events by whether somebody has them locked, and says the database's time. In the dialect plain it takes none for locked.
func (f *Forwarder) unlocked(some []settled) (free, locked []settled, now time.Time, err error) {
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), f.statementTime())
	defer cancel()
	seqs := make([]uint64, len(some))
	for i, one := range some {
		seqs[i] = one.row.Seq
	}
	var there []struct {
		Seq uint64    `db:"seq"`
		Now time.Time `db:"read_at"`
	}
	var had []uint64
	if err := f.db.SelectContext(ctx, &there, f.tables.Fill("event/there", "{seqs}", numbers(seqs))); err != nil {
		return nil, nil, now, err
	}
	if err := f.db.SelectContext(ctx, &had, f.tables.Fill("event/free", "{seqs}", numbers(seqs))); err != nil {
		return nil, nil, now, err
	}
	is := make(map[uint64]bool)
	for _, one := range there {
		is[one.Seq], now = true, one.Now
	}
	for _, seq := range had {
		delete(is, seq)
	}
	for _, one := range some {
		if is[one.row.Seq] {
			locked = append(locked, one)
		} else {
			free = append(free, one)
		}
	}
	return free, locked, now, nil
}

// later has events settled that the server refuses, or that somebody has locked, beside all others. A pass leaves them to the next.
func (f *Forwarder) later(some []settled, why error) {
	f.counted(some, 1)
	if f.pass != nil {
		why = cannotBeDeleted(why)
		f.noteFailure(f.topics.of(some[0].row.Topic), some[0].row, why)
		for _, one := range some {
			f.pass.leaves(one.row, why)
			one.shard.leaves(one.row)
		}
		return
	}
	f.alone.Go(func() { f.settleLater(some, why) })
}

// settleLater tries to settle events, ever more seldom, until they are done or their shards are given up: then another forwarder publishes
// them again.
func (f *Forwarder) settleLater(some []settled, why error) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = firstHold, lastHold
	for {
		first := some[0]
		if !first.shard.term.Lost() {
			f.noteFailure(f.topics.of(first.row.Topic), first.row, cannotBeDeleted(why))
		}
		wait := waits.NextBackOff()
		if len(some) > 1 { // of several shards, which may be others' soon
			wait = min(wait, f.options.Lease/3)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-first.shard.stopped:
		case <-first.shard.ctx.Done():
		}
		timer.Stop()
		var left []settled
		for _, one := range some {
			if one.shard.alive() == nil {
				left = append(left, one)
			} else {
				f.over([]settled{one})
			}
		}
		if some = left; len(some) == 0 {
			return
		}
		if some, why = f.tryLater(some, why); len(some) == 0 {
			return
		}
	}
}

// tryLater settles what it can, and returns what is left to be tried again, and why.
func (f *Forwarder) tryLater(some []settled, before error) (left []settled, why error) {
	select {
	case f.patient <- struct{}{}:
		defer func() { <-f.patient }()
	case <-some[0].shard.stopped:
		return some, before
	}
	free, locked, now, err := f.unlocked(some)
	if err != nil {
		return some, err
	}
	some, left, why = free, locked, fmt.Errorf("%d events are locked by somebody else", len(locked))
	if len(some) == 0 {
		return left, why
	}
	if !now.IsZero() { // some are there
		if err := f.countable(some, now); err != nil {
			return append(left, some...), err
		}
	}
	ours, err := f.trySettle(some)
	if err != nil {
		if len(some) > 1 && refuses(err) && !isLocked(err) { // one of them, which is found by halves
			f.counted(some, -1)
			f.settleSome(some)
			return left, why
		}
		return append(left, some...), err
	}
	f.tell(ours)
	f.over(some)
	for topic := range byTopic(some) {
		if f.topics.of(topic).notesSuccess() {
			f.notes.worked(topic)
		}
	}
	return left, why
}

// over takes events off those that cannot be deleted.
func (f *Forwarder) over(some []settled) {
	f.counted(some, -1)
	gone(some)
}

// counted counts events that cannot be deleted: one or, where they can, minus one for each.
func (f *Forwarder) counted(some []settled, each int) {
	for topic, part := range byTopic(some) {
		f.topics.of(topic).unsettles(each * len(part))
	}
}
