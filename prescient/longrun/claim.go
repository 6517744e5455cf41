package longrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/longrun/internal/claimer"
	"prescient/slots"
)

// meet is what a slot run calls for checks of long runs that are due: it claims the runs of no pool for which this agent has places, and offers the
// others, in the transaction that moves their checks on.
func (e *exec) meet(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
	if e.Runner == nil {
		return fmt.Errorf("%w: job_exec %q was registered without a runner of long runs, which cannot call it", prescient.ErrInvalid, batch.Jobs()[0].JobExec)
	}
	jobs := batch.Jobs()
	terms, now, err := e.terms(ctx, tx, jobs)
	if err != nil {
		return err
	}
	m := &claims{exec: e, jobs: jobs, terms: terms, now: now, before: time.Now()}
	m.places = e.reserve("", m.unpooled())
	batch.AfterTx(func(committed bool) {
		if committed {
			e.launch(m.started)
			e.tellOfOffers(m.offered)
		}
		e.unreserve("", m.places) // runs that have started have theirs by now
	})
	answers, err := m.claim(ctx, tx)
	if err != nil {
		return err
	}
	for i, a := range answers {
		batch.Give(i, a)
	}
	return nil
}

// claims are checks of one job_exec whose runs are to be claimed together.
type claims struct {
	*exec
	jobs   []prescient.FutureJob
	terms  []Terms
	now    time.Time // by the database's clock
	before time.Time // here, before the first lease was asked for
	places int       // that are kept for what a slot run met; what is free has its own
	free   []freeRun // the runs of the checks, as a look has shown them; nil for what a slot run met
	passed []error   // why such a run is passed by; nil for not
	kept   error     // why the server refuses to end the check, which is put off; nil for not

	runs    map[prescient.Key]*known // by their own keys
	of      map[string][]*known      // those of a schedule that did not end
	ended   map[string][]*known      // those that did
	started []*Run
	rows    []byte          // of longrun/start
	forget  []prescient.Key // runs that ended, before the next of their schedules
	starts  []string        // schedules of which a run started
	offered []*known
	soon    []prescient.Key // runs that are put off for an earlier one of their schedules
	ends    []Ended
}

// freeRun is a run that a look has shown to be nobody's, and the slot for which its check waits.
type freeRun struct {
	claimer.Claim
	slot time.Time
}

// claim is how every long run starts: a slot run calls it for checks that it has met, an agent for runs that nobody has. The checks and their
// schedules are locked by then. It locks the runs, proves that they are free, decides about each, and writes what becomes of them. It answers for
// each check; a run that is passed by has no answer.
func (m *claims) claim(ctx context.Context, tx *sqlx.Tx) ([]prescient.Answer, error) {
	if err := m.read(ctx, tx); err != nil {
		return nil, err
	}
	m.prove()
	answers := make([]prescient.Answer, len(m.jobs))
	// The earliest occurrence of a schedule first.
	var order []int
	for i := range m.jobs {
		switch {
		case m.terms[i].Contested:
			answers[i] = prescient.Answer{Cause: prescient.CauseContested}
		case !m.claimed() || m.passed[i] == nil:
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return m.jobs[i].DueAt.Compare(m.jobs[j].DueAt) })
	for _, i := range order {
		answers[i] = m.rule(i)
	}
	return answers, m.write(ctx, tx)
}

// claimed says whether the claims are an agent's, of runs that nobody has.
func (m *claims) claimed() bool { return m.free != nil }

// errAnother is that of a run whose check is gone: another of its key may be there, whose time has not come.
var errAnother = errors.New("the run is that of another check")

// prove passes by what is not as a look has shown it: another agent has it by now, or it is the run of another check.
func (m *claims) prove() {
	m.passed = make([]error, len(m.free))
	for i, seen := range m.free {
		run := m.runs[seen.Key]
		switch {
		case m.terms[i].Contested:
			m.passed[i] = errContested
		case run == nil || run.token != seen.Token || run.agent != seen.Agent || !run.free(m.now):
			m.passed[i] = ErrLost
		case run.check != identityOf(m.jobs[i]) && !run.renewedAs(m.jobs[i]):
			m.passed[i] = errAnother
		}
	}
}

// terms asks the rules, where there are some.
func (e *exec) terms(ctx context.Context, tx *sqlx.Tx, jobs []prescient.FutureJob) ([]Terms, time.Time, error) {
	slot := jobs[0].NextCheckAt // what a clock tells may be a moment behind
	for _, job := range jobs {
		slot = slots.Later(slot, job.NextCheckAt)
	}
	terms := make([]Terms, len(jobs))
	var of []prescient.FutureJob
	var at []int
	for i, job := range jobs {
		if job.EntityName == prescient.ScheduleEntity && e.options.Rules != nil {
			of, at = append(of, job), append(at, i)
		}
	}
	if len(of) == 0 {
		return terms, slots.Later(slot, jobs[0].CalledAt), nil
	}
	known, now, err := e.options.Rules.Terms(ctx, tx, of)
	if err != nil {
		return nil, time.Time{}, err
	}
	for i, t := range known {
		terms[at[i]] = t
	}
	return terms, slots.Later(slot, now), nil
}

// read reads what there is of the runs of the checks, and of their schedules.
func (m *claims) read(ctx context.Context, tx *sqlx.Tx) error {
	m.runs, m.of, m.ended = make(map[prescient.Key]*known), make(map[string][]*known), make(map[string][]*known)
	all, err := readKnown(ctx, tx, &m.tables, m.jobs, m.terms)
	if err != nil {
		return err
	}
	locked := make(map[prescient.Key]bool, len(all))
	for _, run := range all {
		locked[run.key] = true
		switch {
		case run.gone():
			m.forget = append(m.forget, run.key)
			continue
		case run.schedule == "":
		case run.endedAt.IsZero():
			m.of[run.schedule] = append(m.of[run.schedule], run)
		default:
			m.ended[run.schedule] = append(m.ended[run.schedule], run)
		}
		m.runs[run.key] = run
	}
	return passOver(ctx, tx, &m.tables, m.jobs, m.terms, locked)
}

// write writes what was decided.
func (m *claims) write(ctx context.Context, tx *sqlx.Tx) error {
	if err := m.forgetEnded(ctx, tx, m.forget); err != nil {
		return err
	}
	if len(m.rows) > 0 {
		if _, err := tx.ExecContext(ctx, m.tables.Fill("longrun/start", "{rows}", string(m.rows))); err != nil {
			return fmt.Errorf("starting long runs: %w", err)
		}
	}
	if len(m.starts) > 0 {
		if err := m.options.Rules.Started(ctx, tx, m.starts, m.now); err != nil {
			return err
		}
	}
	return m.tell(ctx, tx, m.ends...)
}

// forgetEnded deletes runs. One that a foreign key of the app keeps stays, and is in nobody's way.
func (m *claims) forgetEnded(ctx context.Context, tx *sqlx.Tx, keys []prescient.Key) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, m.tables.Fill("longrun/forget", "{keys}", literal.KeysOf(keys)))
	switch {
	case err == nil:
		return nil
	case !errno.KeepsRow(err):
		return fmt.Errorf("forgetting long runs that ended: %w", err)
	case len(keys) == 1:
		m.options.Log.Warn().Err(err).Str("job_exec", m.name).Msg("a long run that ended cannot be forgotten; it stays in the table")
		return nil
	}
	for i := range keys {
		if err := m.forgetEnded(ctx, tx, keys[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}
