package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// mostSettled is how many events one transaction deletes, and mostSettledBytes about how long their payloads may be together: where they are
// kept or set aside, the server copies them.
const (
	mostSettled      = 1000
	mostSettledBytes = 16 << 20
)

// newSettled makes what holds the events that wait for each settler.
func newSettled(each int) (all [settlers]chan settled) {
	for i := range all {
		all[i] = make(chan settled, each)
	}
	return all
}

// settleAll deletes what was acknowledged and sets aside what was refused, until there is nothing more to come.
func (f *Forwarder) settleAll(waiting <-chan settled) {
	for first := range waiting {
		some, bytes := []settled{first}, first.row.Bytes
		for more := true; more && len(some) < mostSettled && bytes < mostSettledBytes; {
			select {
			case one, ok := <-waiting:
				if more = ok; ok {
					some, bytes = append(some, one), bytes+one.row.Bytes
				}
			default:
				more = false
			}
		}
		f.settleSome(some)
	}
}

// deletion is what a pass has trouble with where the server settles nothing.
const deletion = "published events could not be deleted"

// settleSome tries until it is done, or the shards are not this forwarder's any more: then another one publishes them again. Where the server
// refuses them it tries them by halves, until the one that it refuses is alone: that one goes on beside the others, and so do those that
// somebody has locked.
func (f *Forwarder) settleSome(some []settled) {
	if some = f.keptApart(some); len(some) == 0 {
		return
	}
	trouble := store.NewBackOff()
	for {
		ours, err := f.trySettle(some)
		if err == nil {
			f.pass.meets(deletion, nil)
			f.tell(ours)
			break
		}
		if refuses(err) {
			if isLocked(err) {
				f.settleFree(some, err)
				return
			}
			if len(some) == 1 {
				f.later(some, err)
				return
			}
			f.settleSome(some[:len(some)/2])
			f.settleSome(some[len(some)/2:])
			return
		}
		f.pass.meets(deletion, err)
		f.options.Log.Warn().Err(err).Int("events", len(some)).Msg("published events could not be deleted yet")
		lost := !slices.ContainsFunc(some, func(s settled) bool { return !s.shard.term.Lost() })
		if lost || store.Sleep(f.publishing, trouble.NextBackOff()) != nil {
			break
		}
	}
	gone(some)
}

// gone has the shards take note that events are over.
func gone(some []settled) {
	rows := make(map[*shard][]row)
	for _, s := range some {
		rows[s.shard] = append(rows[s.shard], s.row)
	}
	for shard, rows := range rows {
		shard.gone(rows)
	}
}

// errWereGone is returned where not all events were there.
var errWereGone = errors.New("some of the events were gone")

// trySettle deletes, sets aside and counts in one transaction, and returns what of it was this forwarder's still. The events of all topics
// go by one statement, since those that wait for the shards' leases wait for the transaction. Where some were gone, which of each topic were
// there is known from a statement for each.
func (f *Forwarder) trySettle(some []settled) (ours []settled, err error) {
	if ours, err = f.settleOnce(some, f.settleTogether); errors.Is(err, errWereGone) {
		ours, err = f.settleOnce(some, f.settleByTopic)
	}
	return ours, err
}

type settle func(ctx context.Context, tx *sqlx.Tx, some []settled, now time.Time) (counts map[string][2]int, err error)

func (f *Forwarder) settleOnce(some []settled, settle settle) (ours []settled, err error) {
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), f.statementTime())
	defer cancel()
	// A forwarder that freezes in here has the shards locked: the server ends that, so that others can take them.
	tx, err := f.db.BeginTxx(store.MayIdle(ctx, store.IdleInCommit), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	ours, now, err := f.fence(ctx, tx, some)
	if err != nil || len(ours) == 0 {
		return nil, err
	}
	counts, err := settle(ctx, tx, ours, now)
	if err != nil {
		return nil, err
	}
	if err := f.count(ctx, tx, counts, now); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, fmt.Errorf("committing: %w", err)
	}
	return ours, nil
}

// settleTogether settles events of whatever topics, all of which have to be there.
func (f *Forwarder) settleTogether(ctx context.Context, tx *sqlx.Tx, some []settled, now time.Time) (map[string][2]int, error) {
	published, aside, err := f.settleRows(ctx, tx, some, now, firstNumber(now))
	if err == nil && published+aside != len(some) {
		err = errWereGone
	}
	counts := make(map[string][2]int)
	for _, s := range some {
		n := counts[s.row.Topic]
		if s.reason == nil {
			n[0]++
		} else {
			n[1]++
		}
		counts[s.row.Topic] = n
	}
	return counts, err
}

// settleByTopic settles events of which some may be gone: a transaction whose COMMIT was not answered may have done it before.
func (f *Forwarder) settleByTopic(ctx context.Context, tx *sqlx.Tx, some []settled, now time.Time) (map[string][2]int, error) {
	counts, number := make(map[string][2]int), firstNumber(now)
	for topic, part := range byTopic(some) {
		published, aside, err := f.settleRows(ctx, tx, part, now, number)
		number += uint64(len(part))
		if err != nil {
			return nil, err
		}
		if published+aside > 0 {
			counts[topic] = [2]int{published, aside}
		}
	}
	return counts, nil
}

// fence proves the leases, and keeps them as they are until the transaction is over. It returns what is of shards that are this
// forwarder's, in the order of the outbox, and the database's time.
func (f *Forwarder) fence(ctx context.Context, tx *sqlx.Tx, some []settled) (ours []settled, now time.Time, err error) {
	var shards []*shard
	for _, s := range some {
		if !slices.Contains(shards, s.shard) {
			shards = append(shards, s.shard)
		}
	}
	var held []struct {
		Shard int       `db:"shard"`
		Now   time.Time `db:"read_at"`
	}
	if err := tx.SelectContext(ctx, &held, f.tables.Fill("event/fence", "{shards}", tokensOf(shards))); err != nil {
		return nil, now, fmt.Errorf("fence: %w", err)
	}
	is := make(map[int]bool)
	for _, h := range held {
		is[h.Shard], now = true, h.Now
	}
	for _, s := range shards {
		if !is[s.number] {
			s.lose("its token was taken over")
		}
	}
	for _, s := range some {
		if is[s.shard.number] {
			s.delay = now.Add(-time.Since(s.at)).Sub(s.row.InsertedAt)
			ours = append(ours, s)
		}
	}
	slices.SortFunc(ours, func(a, b settled) int { return cmp.Compare(a.row.Seq, b.row.Seq) })
	return ours, now, nil
}

func byTopic(some []settled) map[string][]settled {
	parts := make(map[string][]settled)
	for _, s := range some {
		parts[s.row.Topic] = append(parts[s.row.Topic], s)
	}
	return parts
}

// settleRows deletes events, and says how many of them were there. Those that are set aside are numbered from number on.
func (f *Forwarder) settleRows(ctx context.Context, tx *sqlx.Tx, some []settled, now time.Time, number uint64) (published, aside int, err error) {
	var done, refused []uint64
	for _, s := range some {
		if s.reason == nil {
			done = append(done, s.row.Seq)
			continue
		}
		if _, err := tx.ExecContext(ctx, f.tables.Stmt.Get("event/set_aside"), number, now, prescient.ReasonText(s.reason), s.shard.number, s.row.Seq); err != nil {
			return 0, 0, fmt.Errorf("setting event %q aside: %w", s.row.ID, err)
		}
		refused = append(refused, s.row.Seq)
		number++
	}
	if f.options.Keep && len(done) > 0 {
		if _, err := tx.ExecContext(ctx, f.tables.Fill("event/keep", "{seqs}", numbers(done)), now); err != nil {
			return 0, 0, fmt.Errorf("keeping published events: %w", err)
		}
	}
	remove := func(seqs []uint64) (n int, err error) {
		if len(seqs) > 0 {
			n, err = store.Affected(ctx, tx, f.tables.Fill("event/delete", "{seqs}", numbers(seqs)))
		}
		return n, err
	}
	if published, err = remove(done); err == nil {
		aside, err = remove(refused)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("deleting events: %w", err)
	}
	return published, aside, nil
}

// count counts by topic, in the slot that is now.
func (f *Forwarder) count(ctx context.Context, db sqlx.ExecerContext, counts map[string][2]int, now time.Time) error {
	if len(counts) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(counts)) // two forwarders lock them in one order
	rows := make([]string, len(names))
	slot := literal.Of(literal.AppendSecond, f.tables.Grid.Floor(now))
	for i, name := range names {
		rows[i] = fmt.Sprintf("(%s, %s, %d, %d)", slot, literal.Of(literal.AppendText, name), counts[name][0], counts[name][1])
	}
	if _, err := db.ExecContext(ctx, f.tables.Fill("event/count", "{rows}", strings.Join(rows, ", "))); err != nil {
		return fmt.Errorf("counting events: %w", err)
	}
	return nil
}

// tell tells the observer, and has taken back what was noted of topics that work again.
func (f *Forwarder) tell(some []settled) {
	for name, part := range byTopic(some) {
		var delays []time.Duration
		for _, s := range part {
			if s.reason == nil {
				delays = append(delays, s.delay)
				continue
			}
			f.options.Log.Warn().Err(s.reason).Str("topic", name).Str("event", s.row.ID).Msg("an event was set aside")
			if told := f.options.Observer.SetAside; told != nil {
				told(name)
			}
		}
		if len(delays) == 0 {
			continue
		}
		if told := f.options.Observer.Published; told != nil {
			told(name, delays)
		}
		if f.topics.of(name).notesSuccess() {
			f.notes.worked(name)
		}
	}
}

// refuses says whether an error of settling is about some of the events, so that others may go through: the server says no, or somebody
// keeps a row locked for as long as a statement may take. A server that cannot be reached, or takes no writes, refuses them all.
func refuses(err error) bool {
	var server *mysql.MySQLError
	if errors.Is(err, errno.ErrNoConnection) {
		return false // by the pool, and not by the server
	}
	return isLocked(err) || errors.As(err, &server) && !errno.Passing(err)
}

// isLocked says whether somebody kept a row, or all of a table, locked for as long as a statement may take.
func isLocked(err error) bool {
	return errno.Is(err, errno.LockWaitTimeout) || errors.Is(err, context.DeadlineExceeded)
}

func cannotBeDeleted(why error) error {
	return fmt.Errorf("its publication is over, and it cannot be deleted: %w", why)
}

// numbersFrom is what the numbers of events that were set aside count from.
var numbersFrom = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// firstNumber is the number of the first event that a transaction sets aside; those after it count up. They are the microseconds since 2020:
// none of the outbox's, which may come again, and short enough for programs that keep numbers as floats. Where two transactions have the
// same one, the second is refused, and tried again later.
func firstNumber(now time.Time) uint64 { return uint64(now.Sub(numbersFrom).Microseconds()) }
