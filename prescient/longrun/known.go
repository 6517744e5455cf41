package longrun

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/check"
)

// known is a run as long_run has it.
type known struct {
	key            prescient.Key
	schedule       string
	pool           string
	agent          string
	token          uint64
	allocatedUntil time.Time // zero where it waits, and where it ended
	lives          bool      // its lease does
	pending        bool      // its check, or another of that key, is
	check          identity
	startedAt      time.Time // for the first time; zero for not yet
	calledAt       time.Time // for the last time
	takeovers      int
	checkpoint     []byte
	endedAt        time.Time
	outcome        prescient.Outcome
}

// identity tells a check from another of the same key: as the app left it, and whatever slot runs did with it since.
type identity struct {
	dueAt, insertedAt time.Time
	checkCount        int
}

// is says whether a check is still the one that it tells of.
func (i identity) is(p *check.Present) bool { return p.Is(i.dueAt, i.insertedAt, i.checkCount) }

// isRenewed says whether it is the check of a schedule's run, which goes on under a later definition.
func (i identity) isRenewed(p *check.Present) bool {
	dueAt, insertedAt, checkCount, there := p.Left()
	return there && i.renewedAs(identity{dueAt, insertedAt, checkCount})
}

// renewedAs says whether a check is that of a schedule's run under another definition.
func (i identity) renewedAs(other identity) bool {
	return i.dueAt.Equal(other.dueAt) && i.checkCount == other.checkCount && !i.insertedAt.Equal(other.insertedAt)
}

// renewedAs is isRenewed of a run that did not end, or of none.
func (k *known) renewedAs(job prescient.FutureJob) bool {
	return k != nil && k.endedAt.IsZero() && k.schedule != "" && k.check.renewedAs(identityOf(job))
}

func identityOf(job prescient.FutureJob) identity {
	return identity{job.DueAt.UTC(), job.InsertedAt.UTC(), job.CheckCount}
}

// underWay says whether it has started, and somebody has it, or has to take it over; offered, whether agents of its pool may claim it, or
// have it; free, whether they may now; waits, whether it has not started.
func (k *known) underWay() bool { return k.offered() && !k.startedAt.IsZero() }
func (k *known) offered() bool  { return k.endedAt.IsZero() && !k.allocatedUntil.IsZero() }
func (k *known) free(now time.Time) bool {
	return k.offered() && !k.lives && (!k.allocatedUntil.After(now) || k.allocatedUntil.After(now.Add(prescient.MaxLease)))
}
func (k *known) waits() bool { return k.endedAt.IsZero() && k.startedAt.IsZero() }

// gone says whether nobody will end it: its check was cancelled after its agent died, or while it waited.
func (k *known) gone() bool { return k.endedAt.IsZero() && !k.pending && !k.lives }

// runsOf are the conditions for the runs of checks, and for all of those of schedules: terms say which checks are a schedule's. There is none
// where all are contested.
func runsOf(jobs []prescient.FutureJob, terms []Terms) (conditions []string) {
	ranges := make(map[string]bool)
	for i, job := range jobs {
		schedule := terms[i].Schedule
		if terms[i].Contested || schedule != "" && ranges[schedule] {
			continue
		}
		if schedule == "" {
			conditions = append(conditions, string(literal.AppendKey([]byte("job_key = "), job.Key())))
			continue
		}
		ranges[schedule] = true
		first, last := job.Entity().KeyRange()
		between := literal.AppendKey([]byte("job_key BETWEEN "), first)
		conditions = append(conditions, string(literal.AppendKey(append(between, " AND "...), last)))
	}
	return conditions
}

// together is of how many checks, or schedules, the runs come in one answer of Vitess, which bounds it: each may have a checkpoint.
const together = 100

// readKnown reads those runs, but for what somebody else has locked.
func readKnown(ctx context.Context, tx *sqlx.Tx, tables *store.Tables, jobs []prescient.FutureJob, terms []Terms) (runs []*known, err error) {
	conditions := runsOf(jobs, terms)
	part := max(len(conditions), 1)
	if tables.Server.Placed() {
		part = together
	}
	for some := range slices.Chunk(conditions, part) {
		rows, err := store.Rows(ctx, tx, "reading long runs", tables.Fill("longrun/met", "{keys}", strings.Join(some, " OR ")), (*known).into)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			check := &rows[i].check
			check.dueAt, check.insertedAt = check.dueAt.UTC(), check.insertedAt.UTC()
			runs = append(runs, &rows[i])
		}
	}
	return runs, nil
}

// into is where the columns of a row go.
func (k *known) into() []any {
	return []any{store.Key(&k.key), store.OrZero(&k.schedule), &k.pool, &k.agent, &k.token, store.OrZero(&k.allocatedUntil), &k.check.dueAt, &k.check.insertedAt,
		&k.check.checkCount, store.OrZero(&k.startedAt), store.OrZero(&k.calledAt), &k.takeovers, &k.checkpoint, store.OrZero(&k.endedAt), store.OrZero(&k.outcome),
		&k.pending, &k.lives}
}

// passOver takes note of the checks that are contested since somebody else has locked a run of theirs, or of their schedules, as who renews
// it: such runs were not among those that were read.
func passOver(ctx context.Context, tx *sqlx.Tx, tables *store.Tables, jobs []prescient.FutureJob, terms []Terms, read map[prescient.Key]bool) error {
	var others []prescient.FutureJob
	var their []Terms
	for i, job := range jobs {
		if terms[i].Schedule != "" || !read[job.Key()] { // else its run is all that there is
			others, their = append(others, job), append(their, terms[i])
		}
	}
	conditions := runsOf(others, their)
	if len(conditions) == 0 {
		return nil
	}
	there, err := store.Rows(ctx, tx, "reading long runs", tables.Fill("longrun/there", "{keys}", strings.Join(conditions, " OR ")), func(row *known) []any {
		return []any{store.Key(&row.key), store.OrZero(&row.schedule)}
	})
	keys, schedules := make(map[prescient.Key]bool), make(map[string]bool)
	for _, run := range there {
		if !read[run.key] {
			keys[run.key], schedules[run.schedule] = true, true
		}
	}
	for i, job := range jobs {
		if keys[job.Key()] || terms[i].Schedule != "" && schedules[terms[i].Schedule] {
			terms[i] = Terms{Contested: true}
		}
	}
	return err
}

// appendTo appends (…) for longrun/start. The slot is the one in which its check was met.
func (k *known) appendTo(b []byte, job prescient.FutureJob) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = literal.AppendKey(append(b, '('), k.key)
	if k.schedule == "" {
		b = append(b, ",NULL,NULL"...)
	} else {
		b = literal.AppendText(append(b, ','), k.schedule)
		b = literal.AppendText(append(b, ','), job.Tag)
	}
	b = literal.AppendText(append(b, ','), k.pool)
	b = literal.AppendText(append(b, ','), k.agent)
	b = literal.AppendUint(append(b, ','), k.token)
	b = literal.AppendMicroOrNull(append(b, ','), timeOrNil(k.allocatedUntil))
	b = literal.AppendSecond(append(b, ','), job.NextCheckAt)
	b = literal.AppendMicro(append(b, ','), k.check.dueAt)
	b = literal.AppendMicro(append(b, ','), k.check.insertedAt)
	b = literal.AppendInt(append(b, ','), int64(k.check.checkCount))
	b = literal.AppendMicroOrNull(append(b, ','), timeOrNil(k.startedAt))
	b = literal.AppendMicroOrNull(append(b, ','), timeOrNil(k.calledAt))
	b = literal.AppendInt(append(b, ','), int64(k.takeovers))
	b = literal.AppendBytesOrNull(append(b, ','), k.checkpoint)
	b = literal.AppendMicroOrNull(append(b, ','), timeOrNil(k.endedAt))
	b = literal.AppendTextOrNull(append(b, ','), string(k.outcome))
	return append(b, ')')
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
