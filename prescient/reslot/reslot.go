package reslot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// DefaultLeaseWait is for how long Run waits for leases.
const DefaultLeaseWait = 3 * time.Minute

// Options are for Run; zero fields mean the defaults.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is that of the client and the worker. In [text.Plain] the resolution cannot be changed: Run returns an error that
	// wraps ErrInvalid.
	Dialect text.Dialect
	// Resolution to change to: whole seconds that divide a day.
	Resolution time.Duration
	// LeaseWait is how long to wait for workers to give their leases back; 3 minutes by default, negative for not at all.
	LeaseWait time.Duration
	// Batch is how many rows are moved in one transaction; 1000 by default, 10000 at most.
	Batch int
	// Patience is how long a statement is tried again that meets locks, or a server that is away; 10 minutes by default. Where somebody
	// has future_job open all that time, the error is a [migrate.HeldError].
	Patience time.Duration
	// Progress, where given, is called at each step and after each batch.
	Progress func(Progress)
	// Log takes what is tried again; the zero value is silent.
	Log zerolog.Logger
}

// Progress says how far Run is.
type Progress struct {
	// Step is what it does: wait, alter, move, check, finish.
	Step Step
	// Slots were looked at so far, Rows moved.
	Slots, Rows int
	// Slot that is being moved.
	Slot time.Time
}

// Step is a step of Run.
type Step string

// The steps, in their order.
const (
	// StepWait: it has raised the version, so that nobody claims, and waits for the leases that live.
	StepWait Step = "wait"
	// StepAlter: plain inserts are given the new grid.
	StepAlter Step = "alter"
	// StepMove: rows are moved.
	StepMove Step = "move"
	// StepCheck: the CHECK of the new grid is added. The server copies the table for that, and inserts wait.
	StepCheck Step = "check"
	// StepFinish: the new resolution is declared.
	StepFinish Step = "finish"
)

// Result is what Run did.
type Result struct {
	From, To time.Duration
	// Resumed says that an earlier Run had been interrupted.
	Resumed bool
	// Rows were moved.
	Rows int
	// Took is the elapsed time.
	Took time.Duration
}

// Run changes the resolution of a live installation: DEFAULT and CHECK of future_job, slot_config, and the slot of
// every row that is off the new grid, which goes to the later of its slot and its due time, both rounded up: never to an
// earlier one. Rows whose slot is on both grids stay.
//
// From its first statement on nobody claims a bucket, and workers stop with prescient.ErrConfigChanged, as clients do within 5 s;
// new ones are refused with prescient.ErrReslotting. It waits for 6 s, and then for the leases that live. Where these are not given back in time, or ctx
// ends, it takes all back and returns prescient.ErrLeased. Plain INSERTs go on all the while, but for the step check, in which
// the server copies future_job. What comes due meanwhile is for the sweeper.
//
// Its first statements leave an entry in the audit, and another where it takes all back.
//
// Interrupted at any point, it can be run again, to the same resolution or another, and has to be: until then nothing
// runs. It needs the rights to alter the tables and to take GET_LOCK, and a pool made by connect.Open for a lease of an
// hour or so, since a connection of it is idle meanwhile.
func Run(ctx context.Context, db *sqlx.DB, options Options) (Result, error) {
	began := time.Now()
	r, err := newReslot(db, options)
	if err != nil {
		return Result{}, err
	}
	unlock, err := migrate.Schema{Prefix: options.Prefix}.Lock(ctx, db.DB)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	err = r.run(ctx)
	r.did.Took = time.Since(began)
	return r.did, err
}

// reslot is one Run under way.
type reslot struct {
	tables   store.Tables
	db       *sqlx.DB
	options  Options
	oldShows time.Duration
	at       Progress
	did      Result
	// announced says that everybody has been stopped, and that only a Run that is done lets them go on.
	announced bool
}

func newReslot(db *sqlx.DB, o Options) (*reslot, error) {
	o.LeaseWait = cmp.Or(o.LeaseWait, DefaultLeaseWait)
	o.Batch = cmp.Or(o.Batch, 1000)
	o.Patience = cmp.Or(o.Patience, 10*time.Minute)
	if o.Batch < 1 || o.Batch > 10000 {
		return nil, fmt.Errorf("%w: batch %d: 1 to 10000 are allowed", prescient.ErrInvalid, o.Batch)
	}
	grid, err := slots.NewGrid(o.Resolution)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	if err := o.Dialect.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	statements, err := text.Load(o.Prefix)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	r := &reslot{tables: store.Tables{Stmt: statements, Prefix: o.Prefix, Grid: grid}, db: db, options: o, oldShows: store.VersionLasts + time.Second}
	r.did.To = o.Resolution
	return r, nil
}

// run takes all steps. Where it ends before the last one, nobody can start until it is run again.
func (r *reslot) run(ctx context.Context) error {
	err := r.steps(ctx)
	if err != nil && r.announced {
		err = fmt.Errorf("nothing runs until reslot is run again: reslot --resolution %[2]s. It failed: %[1]w", err, r.tables.Grid)
	}
	return err
}

// The order is what makes it safe to be stopped anywhere. Once announced nobody claims, so nothing runs early or twice.
// After the new DEFAULT no plain insert lands off the new grid, and those under way before are over, since the ALTER
// waits for them. A client with the old grid may still insert, in a transaction whose snapshot is older than the
// announcement, until the CHECK refuses it: the CHECK is added over all rows, so what came late makes it fail, and is
// moved. Every step finds out from the tables whether it was done before.
func (r *reslot) steps(ctx context.Context) error {
	if _, dialect, err := r.options.Dialect.Choose(ctx, r.db); err != nil {
		return err
	} else if dialect == text.Plain {
		return fmt.Errorf("%w: in the dialect plain the tables have no CHECK that holds a late insert to the new resolution: make new ones; on MySQL or MariaDB reslot without the setting", prescient.ErrInvalid)
	}
	stored, goesTo, err := r.config(ctx)
	if err != nil {
		return err
	}
	r.announced = goesTo != 0
	r.did.From, r.did.Resumed = stored, goesTo != 0
	is, err := r.gridOfTable(ctx)
	if err != nil {
		return err
	}
	want := store.TableGrid{Checked: r.tables.Grid.Resolution(), Filled: r.tables.Grid.Resolution()}
	if goesTo == 0 && stored == r.tables.Grid.Resolution() && is == want {
		return nil
	}
	if err := r.refuseOdd(ctx); err != nil {
		return err
	}
	if err := r.announce(ctx); err != nil {
		return err
	}
	r.announced = true
	if err := r.awaitLeases(ctx); err != nil {
		untouched := is == store.TableGrid{Checked: stored, Filled: stored}
		if untouched && (errors.Is(err, prescient.ErrLeased) || ctx.Err() != nil) {
			if undo := r.once(context.WithoutCancel(ctx), "operate/reslot_withdraw", r.seconds()); undo != nil {
				return errors.Join(err, undo)
			}
			r.announced = false
			undo := r.record(context.WithoutCancel(ctx), r.db, "reslot-withdrawn", r.did.To, r.did.From)
			return errors.Join(fmt.Errorf("nothing was changed: %w", err), undo)
		}
		return err
	}
	if is != want {
		if err := r.alter(ctx, is); err != nil {
			return err
		}
		if err := r.moveAndCheck(ctx); err != nil {
			return err
		}
	}
	r.tell(StepFinish)
	if err := r.once(ctx, "operate/reslot_finish", r.seconds(), r.seconds()); err != nil {
		return fmt.Errorf("declaring the new resolution: %w", err)
	}
	return nil
}

func (r *reslot) seconds() int64 { return int64(r.tables.Grid.Resolution() / time.Second) }

func (r *reslot) tell(step Step) {
	r.at.Step = step
	if r.options.Progress != nil {
		r.options.Progress(r.at)
	}
}

// config reads slot_config: the resolution, and the one that an interrupted change goes to.
func (r *reslot) config(ctx context.Context) (stored, goesTo time.Duration, err error) {
	var version uint64
	var schema int64
	err = store.QueryRow(ctx, r.db, []any{&stored, &version, &goesTo, &schema}, r.tables.Stmt.Get("list/config"))
	switch {
	case errno.Is(err, errno.NoSuchTable, errno.NoSuchColumn):
		return 0, 0, fmt.Errorf("%w: %sslot_config is missing, or of an earlier version", prescient.ErrNotMigrated, r.tables.Prefix)
	case err != nil:
		return 0, 0, fmt.Errorf("reading slot_config: %w", err)
	}
	return stored * time.Second, goesTo * time.Second, r.tables.HasSchema(schema)
}

// refuseOdd refuses, before anybody is stopped, what no CHECK of a grid holds: a time that is no day of the calendar. It stays where it is.
func (r *reslot) refuseOdd(ctx context.Context) error {
	if r.announced {
		return nil // it is to be finished
	}
	var odd []struct {
		EntityName string `db:"entity_name"`
		EntityKey  string `db:"entity_key"`
		JobExec    string `db:"job_exec"`
		Key        string `db:"job_key"`
	}
	if err := r.retry(ctx, "looking for times that are none", func() error {
		odd = nil
		return r.db.SelectContext(ctx, &odd, r.tables.Stmt.Get("operate/reslot_odd"))
	}); err != nil || len(odd) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s of %s/%s has a time that is no day of the calendar, such as the 31st of February; nothing was changed. Take it away first: DELETE FROM %sfuture_job WHERE job_key = UNHEX('%s')",
		prescient.ErrInvalid, odd[0].JobExec, odd[0].EntityName, odd[0].EntityKey, r.tables.Prefix, odd[0].Key)
}

// awaitLeases waits until no lease lives, and fences off those that lapsed.
func (r *reslot) awaitLeases(ctx context.Context) error {
	r.tell(StepWait)
	giveUp := time.Now().Add(max(r.options.LeaseWait, 0))
	// A claim whose statement had looked at the version before it was raised shows within this time, and no client inserts
	// by the old one after it, but where a transaction whose snapshot is older has looked since.
	wait := r.oldShows
	for {
		if err := store.Sleep(ctx, wait); err != nil {
			return err
		}
		live, err := r.leases(ctx)
		if err != nil {
			return err
		}
		if len(live) == 0 {
			break
		}
		if !time.Now().Before(giveUp) {
			l := live[0]
			count := fmt.Sprint(len(live))
			if len(live) == mostLeases {
				count += " or more"
			}
			return fmt.Errorf("%w: %s, among them that of worker %s on bucket %d of slot %s, for %s yet: stop the workers, or wait for longer",
				prescient.ErrLeased, count, l.Worker, l.Bucket, slots.Stamp(l.Slot), (time.Duration(l.HeldMicros) * time.Microsecond).Round(time.Millisecond))
		}
		wait = min(time.Second, time.Until(giveUp))
	}
	if err := r.once(ctx, "operate/reslot_fence"); err != nil {
		return fmt.Errorf("fencing off lapsed leases: %w", err)
	}
	return nil
}

// mostLeases is how many are counted.
const mostLeases = 100

func (r *reslot) leases(ctx context.Context) (live []store.Leased, err error) {
	err = r.retry(ctx, "looking for leases", func() error {
		live = nil
		return r.db.SelectContext(ctx, &live, r.tables.Stmt.Get("operate/leases"), mostLeases)
	})
	return live, err
}
