package large

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// Rules is the section of rules that change.
var Rules = rig.Section{
	Name: "rules",
	About: "two rules have 5 million pending checks, on slots of a minute that a worker serves; one's delay of 3 h becomes 4 h, the other's 1 h, while an app reports occasions by Happened " +
		"and CALL happened on one connection, and cancels and moves checks and updates orders on another; who moves what is pending dies after a tenth, and another goes on; " +
		"no check is lost, called before its new time, or left with the old one, and those that are late are counted",
	Run: measureRules,
}

const (
	remind, hurry = "remind", "hurry" // the rules: every fifth check is of hurry
	oldDelay      = 3 * time.Hour
	longer        = 4 * time.Hour
	shorter       = time.Hour
	// appMoves is how far ahead the app moves checks, which no rule does.
	appMoves = 300 * 24 * time.Hour
	// rulesTold is for how long after a change a slot run may go by what it read of the rules before it.
	rulesTold = 10 * time.Second
)

func measureRules(ctx context.Context, b *rig.Bench, s *rig.Server) error {
	p, err := s.Install(ctx, "rules", time.Minute, false)
	if err != nil {
		return err
	}
	if !b.Keep {
		defer p.Drop(ctx)
	}
	rows := b.Scaled(5_000_000)
	book := rulebook.New(p.Client)
	if err := putRules(ctx, p, book, oldDelay, oldDelay); err != nil {
		return err
	}
	if err := fillRules(ctx, b, p, rows); err != nil {
		return err
	}
	run := &rulesRun{Bench: b, place: p, book: book, rows: rows, called: &callsOfRules{times: make(map[int]bool)}}
	return run.measure(ctx)
}

// putRules has the two rules have delays.
func putRules(ctx context.Context, p *rig.Place, book *rulebook.Book, ofRemind, ofHurry time.Duration) error {
	for _, r := range []rule.Rule{{Name: remind, Occasion: "placed", JobExec: remind, Delay: ofRemind}, {Name: hurry, Occasion: "paid", JobExec: hurry, Delay: ofHurry}} {
		if _, _, err := book.Put(ctx, p.DB, r, 0, rule.Move); err != nil {
			return err
		}
	}
	return nil
}

// fillRules writes checks as occasions of three hours have made them, by plain SQL: slot by slot, which is the order of the primary key. The first is due
// about when it is done.
func fillRules(ctx context.Context, b *rig.Bench, p *rig.Place, rows int) error {
	if err := p.MakeNumbers(ctx, min(rig.Numbers, rows)); err != nil {
		return err
	}
	began := time.Now()
	takes := 30*time.Second + time.Duration(rows)*40*time.Microsecond
	if _, err := p.Exec(ctx, "ALTER TABLE future_job DROP KEY job_key"); err != nil {
		return err
	}
	for from := 0; from < rows; from += rig.Numbers {
		_, err := p.Exec(ctx, `INSERT INTO future_job (entity_name, entity_key, job_exec, tag, due_at, rule_version, occasion_at)
			SELECT 'order', i, of_rule, CONCAT('rule:', of_rule), at + INTERVAL 3 HOUR, 1, at FROM (
				SELECT n + ? AS i, IF((n + ?) MOD 5 = 0, 'hurry', 'remind') AS of_rule, ? - INTERVAL 3 HOUR + INTERVAL (n + ?) * 10800 DIV ? SECOND AS at FROM bench_n WHERE n < ?) x`,
			from, from, began.Add(takes).UTC().Format(time.DateTime), from, rows, min(rig.Numbers, rows-from))
		if err != nil {
			return err
		}
		b.Say("  %.1f million pending after %v", float64(min(from+rig.Numbers, rows))/1e6, time.Since(began).Round(time.Second))
	}
	for _, query := range []string{"ALTER TABLE future_job ADD UNIQUE KEY job_key (job_key)", "CREATE TABLE orders (id INT PRIMARY KEY, shipped_at DATETIME(6) NULL)",
		fmt.Sprintf("INSERT INTO orders (id) SELECT n FROM bench_n WHERE n < %d", min(rig.Numbers, 100_000, rows))} {
		if _, err := p.Exec(ctx, query); err != nil {
			return err
		}
	}
	b.Say("  ready after %v; the first are due after %v", time.Since(began).Round(time.Second), takes)
	return p.Analyze(ctx, "future_job")
}

// rulesRun is what is measured at once.
type rulesRun struct {
	*rig.Bench
	place  *rig.Place
	book   *rulebook.Book
	rows   int
	called *callsOfRules

	changed, died, tookOver, over time.Time
	putOff, late                  atomic.Int64 // by slot runs
}

func (r *rulesRun) measure(ctx context.Context) error {
	stop, err := r.work(ctx)
	if err != nil {
		return err
	}
	defer stop()
	c, err := client.New(ctx, r.place.App, client.Options{Guards: prescient.Guards{Horizon: 3650 * 24 * time.Hour}})
	if err != nil {
		return err
	}
	a := &rulesApp{place: r.place, client: c, rows: r.rows, next: r.rows}
	quiet, err := a.during(ctx, func() error { return rig.Pause(ctx, 15*time.Second) })
	if err != nil {
		return err
	}
	busy, err := a.during(ctx, func() error { return r.change(ctx) })
	if err != nil {
		return err
	}
	walks, err := r.walks(ctx)
	if err != nil {
		return err
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	if err := stop(); err != nil {
		return err
	}
	return errors.Join(r.record(quiet, busy, walks, a), r.check(ctx, a, walks))
}

// work has a worker serve slots until stop is called.
func (r *rulesRun) work(ctx context.Context) (stop func() error, err error) {
	registry := prescient.NewRegistry()
	for _, name := range []string{remind, hurry} {
		if err := registry.RegisterBatch(name, r.called.take, prescient.Guards{}); err != nil {
			return nil, err
		}
	}
	db, err := connect.Open(r.place.DSN(r.place.Name), 0)
	if err != nil {
		return nil, err
	}
	w, err := worker.New(ctx, db, worker.Options{Registry: registry, Sweep: worker.Sweep{Every: 30 * time.Second},
		Observer: &worker.Observer{SlotRun: func(f books.Figures, _ error) {
			r.putOff.Add(int64(f.PutOff))
			r.late.Add(int64(f.LateByRule))
		}}})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	working, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Work(working) }()
	var once atomic.Bool
	return func() error {
		if once.Swap(true) {
			return nil
		}
		end()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return errors.Join(err, db.Close())
	}, nil
}

// change changes the rules, and moves what is pending: one begins, and is gone after a tenth as a process that was killed, and another goes on.
func (r *rulesRun) change(ctx context.Context) error {
	r.called.change(time.Now())
	if err := putRules(ctx, r.place, r.book, longer, shorter); err != nil {
		return err
	}
	r.changed = time.Now()
	db, err := connect.Open(r.place.DSN(r.place.Name), 0)
	if err != nil {
		return err
	}
	moved := 0
	_, err = r.book.WorkOn(ctx, db, remind, "first", func(s rulebook.Step) {
		if moved += s.Moved; moved >= r.rows/10 && r.died.IsZero() {
			r.died = time.Now()
			_ = db.Close()
		}
	})
	if r.died.IsZero() {
		return errors.Join(errors.New("it was over before it could die"), err)
	}
	r.Say("  %d moved after %v; another goes on", moved, time.Since(r.changed).Round(time.Second))
	said := time.Now()
	for _, name := range []string{remind, hurry} {
		for over := false; !over; {
			over, err = r.book.WorkOn(ctx, r.place.DB, name, "second", func(s rulebook.Step) {
				if r.tookOver.IsZero() {
					r.tookOver = time.Now()
				}
				if moved += s.Moved; time.Since(said) > time.Minute {
					said = time.Now()
					r.Say("  %d moved after %v", moved, time.Since(r.changed).Round(time.Second))
				}
			})
			if err == nil && !over { // the lease of the dead one
				err = rig.Pause(ctx, time.Second)
			}
			if err != nil {
				return err
			}
		}
	}
	r.over = time.Now()
	return nil
}

// walks are how the walks of both rules ended.
func (r *rulesRun) walks(ctx context.Context) (sum rulebook.Walk, err error) {
	for _, name := range []string{remind, hurry} {
		one, err := r.book.Get(ctx, r.place.DB, name)
		if err != nil {
			return sum, err
		}
		if one.Walk.To != one.Version {
			return sum, fmt.Errorf("the walk of %s is not over: %+v", name, one.Walk)
		}
		sum.Moved, sum.Late, sum.Ended, sum.Pass = sum.Moved+one.Walk.Moved, sum.Late+one.Walk.Late, sum.Ended+one.Walk.Ended, max(sum.Pass, one.Walk.Pass)
	}
	return sum, nil
}

// older are checks of the old versions that nobody but the rules has moved: there is to be none.
const older = "FROM future_job WHERE tag IN ('rule:remind', 'rule:hurry') AND due_at < UTC_TIMESTAMP() + INTERVAL 250 DAY AND rule_version < 2"

// settle waits until the slot runs have met what was in slots that had begun when the walks were there.
func (r *rulesRun) settle(ctx context.Context) error {
	for until := time.Now().Add(5 * time.Minute); ; {
		var n int
		if err := r.place.DB.GetContext(ctx, &n, "SELECT COUNT(*) "+older); err != nil || n == 0 {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("%d checks are as an older version has them", n)
		}
		if err := rig.Pause(ctx, 5*time.Second); err != nil {
			return err
		}
	}
}

// check fails where a check was lost, called early or twice, has two versions, or is late and not counted.
func (r *rulesRun) check(ctx context.Context, a *rulesApp, walks rulebook.Walk) error {
	count := func(query string, args ...any) (n int, err error) {
		err = r.place.DB.GetContext(ctx, &n, query, args...)
		return n, err
	}
	for what, query := range map[string]string{
		"are not as the new version says": "SELECT COUNT(*) FROM future_job WHERE tag LIKE 'rule:%' AND due_at < UTC_TIMESTAMP() + INTERVAL 250 DAY AND " +
			"(due_at <> occasion_at + INTERVAL IF(tag = 'rule:remind', 4, 1) HOUR OR check_count > 0)",
		"are in a slot before they are due": "SELECT COUNT(*) FROM future_job WHERE next_check_at < due_at",
		"ended, and are pending":            "SELECT COUNT(*) FROM job_history JOIN future_job USING (job_key)",
		"ended twice":                       "SELECT COUNT(*) - COUNT(DISTINCT job_key) FROM job_history",
		"ended in another way":              "SELECT COUNT(*) FROM job_history WHERE outcome NOT IN ('done', 'cancelled')",
	} {
		if n, err := count(query); err != nil || n > 0 {
			return errors.Join(err, fmt.Errorf("%d checks %s", n, what))
		}
	}
	all, err := count("SELECT (SELECT COUNT(*) FROM future_job) + (SELECT COUNT(*) FROM job_history)")
	if err != nil {
		return err
	}
	done, err := count("SELECT COUNT(*) FROM job_history WHERE outcome = 'done'")
	if err != nil {
		return err
	}
	// The app may take one away while it is called: what comes of the call is dropped then.
	if called := len(r.called.times); all != r.rows+a.reported || done > called || called-done > a.taken {
		return fmt.Errorf("%d checks are pending or ended, of %d and %d reported; %d done, %d called", all, r.rows, a.reported, done, len(r.called.times))
	}
	if r.called.early > 0 || r.called.twice > 0 {
		return fmt.Errorf("%d checks were called before their time, %d twice", r.called.early, r.called.twice)
	}
	// Of hurry: whose new time was over when the rule changed, at least; those that the app took away meanwhile may be among them.
	least, most := r.lateAt(r.changed)-a.taken-r.called.before, r.lateAt(r.over)+a.reported
	if late := int(walks.Late) + int(r.late.Load()); late < least || late > most {
		return fmt.Errorf("%d were counted as late; %d to %d are", late, least, most)
	}
	return nil
}

// lateAt is how many of the filled checks of hurry are late by the new version at a time, and were not due by the old one when the slots began to be served.
func (r *rulesRun) lateAt(at time.Time) (n int) {
	_ = r.place.DB.Get(&n, "SELECT (SELECT COUNT(*) FROM future_job WHERE tag = 'rule:hurry' AND CAST(entity_key AS UNSIGNED) < ? AND occasion_at + INTERVAL 1 HOUR <= ?) + "+
		"(SELECT COUNT(*) FROM job_history WHERE tag = 'rule:hurry' AND CAST(entity_key AS UNSIGNED) < ?)", r.rows, at.UTC(), r.rows)
	return n
}

func (r *rulesRun) record(quiet, busy map[string][]float64, walks rulebook.Walk, a *rulesApp) error {
	rate := float64(walks.Moved) / (r.over.Sub(r.changed) - r.tookOver.Sub(r.died)).Seconds()
	figures := map[string]float64{"moved": float64(walks.Moved), "by slot runs": float64(r.putOff.Load()), "late": float64(walks.Late) + float64(r.late.Load()), "passes": float64(walks.Pass),
		"rows/s": rate, "taken over after s": r.tookOver.Sub(r.died).Seconds(), "reported": float64(a.reported), "taken by the app": float64(a.taken), "called": float64(len(r.called.times)),
		"took s": r.over.Sub(r.changed).Seconds()}
	text := ""
	for what := range busy {
		for name, ms := range map[string][]float64{"quiet": quiet[what], "busy": busy[what]} {
			slices.Sort(ms)
			figures[name+" "+what+" p50"], figures[name+" "+what+" p99"], figures[name+" "+what+" n"] = page.Percentile(ms, 50), page.Percentile(ms, 99), float64(len(ms))
		}
		text += fmt.Sprintf("\n    %-10s p50, p99: %.1f, %.1f quiet, %.1f, %.1f beside", what, figures["quiet "+what+" p50"], figures["quiet "+what+" p99"], figures["busy "+what+" p50"], figures["busy "+what+" p99"])
	}
	r.Say("  %d moved in %v, %.0f a second, %d by slot runs, %.0f late; taken over after %v; %d reported, %d called; %d passes%s", walks.Moved, r.over.Sub(r.changed).Round(time.Second), rate,
		r.putOff.Load(), figures["late"], r.tookOver.Sub(r.died).Round(time.Second), a.reported, len(r.called.times), walks.Pass, text)
	return r.Book.Add(page.Record{Case: "change", Rows: r.rows, Figures: figures})
}
