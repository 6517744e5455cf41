package ops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/blocking"
	"prescient/prescient/doctor"
	"prescient/prescient/forecast"
	"prescient/prescient/internal/store"
	"prescient/prescient/notify"
	"prescient/prescient/ops/working"
	"prescient/prescient/stats"
	"prescient/prescient/status"
)

// lookWithin is how long the doctor may take.
const lookWithin = time.Minute

// DoctorAsked says which findings are wanted.
type DoctorAsked struct {
	Only   []string `query:"only" maxItems:"100" doc:"Only findings with these codes, as in overdue,leases; rows is also rows.key and the like."`
	Ignore []string `query:"ignore" maxItems:"100" doc:"No findings with these codes."`
}

// Examined is what the doctor found.
type Examined struct {
	Severity doctor.Severity  `json:"severity" doc:"That of the worst finding."`
	Findings []doctor.Finding `json:"findings"`
}

// doctorOptions are the doctor's, for what the caller may see.
func (q asked) doctorOptions() doctor.Options {
	o := q.options.Doctor
	o.NoStatements = !q.by.Role.May(Operator)
	return o
}

// examinedFor is how old findings may be that are selected from: to find them takes seconds where there are tens of millions of rows. They are a
// minute old at most, as what is selected is shared, too.
const examinedFor = time.Minute - sharedFor

// Examine looks for what is wrong. It looks at what the caller's account sees.
var Examine = shared(lasting(lookWithin, query("doctor.examine", Viewer, "Look for what is wrong, and say what to do about it. Findings are a minute old at most.", func(ctx context.Context, q asked, in DoctorAsked) (Examined, error) {
	if _, err := doctor.SelectFindings(nil, in.Only, in.Ignore); err != nil {
		return Examined{}, err
	}
	// All is examined, whatever is wanted of it: once for all who want something.
	whole, err := q.recent.Get(ctx, "doctor "+string(q.by.Role), examinedFor, func(ctx context.Context) (any, error) { return doctor.Examine(ctx, q.db, q.doctorOptions()) })
	if err != nil {
		return Examined{}, err
	}
	found, _ := whole.([]doctor.Finding)
	if found, err = doctor.SelectFindings(found, in.Only, in.Ignore); err != nil {
		return Examined{}, err
	}
	if found == nil {
		found = []doctor.Finding{}
	}
	return Examined{doctor.Worst(found), found}, nil
})))

// Overdue is what is late.
type Overdue struct {
	Checks  int64      `json:"checks"`
	AtLeast bool       `json:"at_least" doc:"There are more than are counted: checks is what the server estimates, or what was counted."`
	Slot    *time.Time `json:"slot" doc:"That of the oldest; null where nothing is overdue."`
	Rate    float64    `json:"rate" doc:"How many checks of such slots ended a second in the last minute."`
	ToGoMS  int64      `json:"to_go_ms,string" doc:"How long the rest takes at that rate, at most; 0 where that is not known."`
}

// Look is how the installation is.
type Look struct {
	At           time.Time              `json:"at" doc:"The database's time."`
	ResolutionMS int64                  `json:"resolution_ms" doc:"How long a slot is."`
	Agents       []working.Agent        `json:"agents" doc:"Those that live or died not long ago, and timers."`
	Backlog      Overdue                `json:"backlog"`
	FailsFrom    time.Time              `json:"fails_from"`
	FailsCut     bool                   `json:"fails_cut" doc:"Earlier failures were too many to be read."`
	Fails        []stats.Exec           `json:"fails" doc:"The job_execs of which calls failed, checks ended unsettled, or no worker knows them, since fails_from; those with most errors first."`
	Paused       []prescient.Paused     `json:"paused"`
	Pools        []working.Pool         `json:"pools" doc:"Those in which long runs wait for a place."`
	Topics       []working.TopicBacklog `json:"topics" doc:"Those of whose events some wait in the outbox."`
	NextAt       *time.Time             `json:"next_at" doc:"When the forecast was made; null where none was."`
	Next         []forecast.Part        `json:"next" doc:"The next slots that have something to do."`
	Findings     []status.Finding       `json:"findings" doc:"What the doctor finds wrong, the worst first in each section."`
	Unseen       []status.Finding       `json:"unseen" doc:"What was not looked at, and who would."`
	Severity     doctor.Severity        `json:"severity" doc:"That of the worst finding."`
}

// Status tells how the installation is.
var Status = shared(lasting(lookWithin, query("status.look", Viewer, "Tell who works, what is late, what fails, what waits and what comes next.", func(ctx context.Context, q asked, _ Nothing) (Look, error) {
	r, err := status.Look(ctx, q.db, q.doctorOptions())
	b := r.Backlog
	return Look{At: r.At, ResolutionMS: r.Resolution.Milliseconds(), Agents: working.Agents(r.Agents), Backlog: Overdue{b.Checks, b.AtLeast, b.Slot, b.Rate, b.ToGo.Milliseconds()},
		FailsFrom: r.FailsFrom, FailsCut: r.FailsCut, Fails: r.Fails, Paused: r.Paused, Pools: working.Pools(r.Pools), Topics: working.Topics(r.Topics), NextAt: r.NextAt, Next: r.Next,
		Findings: r.Findings, Unseen: r.Unseen, Severity: r.Severity}, err
})))

// BlockingAsked says which chains are wanted.
type BlockingAsked struct {
	All bool `query:"all" doc:"Chains at all tables of the server, not only at those of the installation."`
}

// Blocked is who waits for whom.
type Blocked struct {
	Chains  []blocking.Node      `json:"chains" doc:"Sessions that others wait for, with those behind them; that with the longest wait first."`
	Locked  []blocking.LockedRow `json:"locked" doc:"Checks that are overdue since somebody has their row locked."`
	More    bool                 `json:"more" doc:"There are further overdue rows, which were not looked at."`
	Skipped bool                 `json:"skipped" doc:"No row was looked at, since a table as such is locked."`
	Unseen  []blocking.Unseen    `json:"unseen" doc:"What the account or the server does not show, and what helps."`
	Blind   bool                 `json:"blind" doc:"Whether sessions wait for others does not show."`
}

// Blocking looks who waits for whom. Statements of others are in it, so it is for admins.
var Blocking = lasting(lookWithin, query("blocking.look", Admin, "Tell which sessions wait for others, and which checks somebody has locked.", func(ctx context.Context, q asked, in BlockingAsked) (Blocked, error) {
	found, err := blocking.Look(ctx, q.db, blocking.Options{Prefix: q.options.Prefix, Dialect: q.options.Dialect, All: in.All})
	if err != nil {
		return Blocked{}, err
	}
	return Blocked{append([]blocking.Node{}, found.Chains...), append([]blocking.LockedRow{}, found.Locked...), found.More, found.Skipped,
		append([]blocking.Unseen{}, found.Unseen...), found.Blind}, nil
}))

// ListTold tells who is told of findings.
var ListTold = shared(query("notify.list", Viewer, "Tell which receivers were told of which findings, and which cannot be reached.", func(ctx context.Context, q asked, _ Nothing) (notify.Told, error) {
	return notify.Look(ctx, q.db, q.tables)
}))

// TellAgain has what waits for receivers be sent at once.
var TellAgain = deed("notify.again", Operator, "Have what receivers wait for be sent within half a minute; it says whether somebody does that.", func(ctx context.Context, d doing, _ Nothing) (Counted, error) {
	worker, err := notify.Again(ctx, d.tx, d.tables)
	if worker == "" || err != nil {
		return Counted{}, err
	}
	return Counted{1}, d.audit.Record(ctx, d.tx, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "notify.again", Before: worker})
})

// Metrics are what Prometheus is told.
type Metrics struct{ prometheus.Gatherer }

// ReadMetrics tells Prometheus what the database knows. What a worker tells of, too, has the name that it has there.
var ReadMetrics = query("metrics", Viewer, "Tell Prometheus what the database knows, for installations that have no process to scrape.", func(_ context.Context, q asked, _ struct{}) (Metrics, error) {
	return Metrics{q.seen.metrics}, nil
})

// ErrNotReady is returned by Ready where operations cannot be done now.
var ErrNotReady = errors.New("not ready")

// Ready says whether the database answers and its tables are those that this program needs. It is for whoever asks, and looks once in 5 seconds.
func (o *Ops) Ready() error {
	no, _ := o.seen.ready.Look(func(ctx context.Context) (error, error) {
		_, err := store.OpenTables(store.Vital(ctx), o.accounts.Viewer, o.options.Prefix, 0, o.options.Dialect)
		return err, nil
	})
	if no != nil {
		return fmt.Errorf("%w: %w", ErrNotReady, no)
	}
	return nil
}
