package ops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/store"
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

// Examine looks for what is wrong. It looks at what the caller's account sees.
var Examine = shared(lasting(lookWithin, query("doctor.examine", Viewer, "Look for what is wrong, and say what to do about it.", func(ctx context.Context, q asked, in DoctorAsked) (Examined, error) {
	if _, err := doctor.SelectFindings(nil, in.Only, in.Ignore); err != nil {
		return Examined{}, err
	}
	found, err := doctor.Examine(ctx, q.db, q.doctorOptions())
	if err != nil {
		return Examined{}, err
	}
	if found, err = doctor.SelectFindings(found, in.Only, in.Ignore); err != nil {
		return Examined{}, err
	}
	if found == nil {
		found = []doctor.Finding{}
	}
	return Examined{doctor.Worst(found), found}, nil
})))

// Status tells how the installation is.
var Status = shared(lasting(lookWithin, query("status.look", Viewer, "Tell who works, what is late, what fails, what waits and what comes next.", func(ctx context.Context, q asked, _ struct{}) (status.Report, error) {
	return status.Look(ctx, q.db, q.doctorOptions())
})))

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
