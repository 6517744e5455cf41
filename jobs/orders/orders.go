package orders

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
)

// EntityName is the entity_name of the checks; their entity_key is the order's id.
const EntityName = "order"

// Defaults of Options.
const (
	DefaultJobExec       = "order-unshipped"
	DefaultPrimaryAfter  = 3 * time.Hour
	DefaultEscalateAfter = 6 * time.Hour
)

// Options are for New. An app that only places and ships needs no DB, a worker no Client.
type Options struct {
	// DB is where Check and Alerts look: a pool made by connect.Open, or one with parseTime=true and loc=UTC.
	DB *sqlx.DB
	// Client inserts the checks, and cancels them with CancelOnShip.
	Client *client.Client
	// Prefix of the names of orders and order_alerts; empty by default. At most 32 of a-z, 0-9 and _,
	// no digit first.
	Prefix string
	// JobExec is the name of the check; order-unshipped by default.
	JobExec string
	// PrimaryAfter is how long after it was placed an order is alerted about; 3 h by default.
	PrimaryAfter time.Duration
	// EscalateAfter is how long after it was placed an order is escalated; 6 h by default. More than PrimaryAfter.
	EscalateAfter time.Duration
	// CancelOnShip makes Ship cancel the check, which then ends as cancelled. By default Ship leaves it alone, and it
	// ends as done when it comes: one statement less for the app, one call more for the worker.
	CancelOnShip bool
	// OnAlert is told of every alert after its row was inserted; nil for nobody. The row is what counts: when a worker
	// dies in between, nobody is told. It is called from several goroutines at once,
	// by CheckBatch for one alert after the other.
	OnAlert func(ctx context.Context, alert Alert)
}

// Orders places, ships and checks orders. It is for concurrent use.
type Orders struct{ options Options }

// New returns an app on the tables that CreateTables makes. It does not connect. The error wraps prescient.ErrInvalid.
func New(options Options) (*Orders, error) {
	options.JobExec = cmp.Or(options.JobExec, DefaultJobExec)
	options.PrimaryAfter = cmp.Or(options.PrimaryAfter, DefaultPrimaryAfter)
	options.EscalateAfter = cmp.Or(options.EscalateAfter, DefaultEscalateAfter)
	if err := validPrefix(options.Prefix); err != nil {
		return nil, err
	}
	check := prescient.NewJob{Entity: entity(1), JobExec: options.JobExec, DueAt: time.Unix(0, 0)}
	if err := check.Validate(); err != nil {
		return nil, fmt.Errorf("orders: %w", err)
	}
	switch {
	case options.PrimaryAfter < 0:
		return nil, fmt.Errorf("orders: %w: PrimaryAfter %s: positive times are allowed, and 0 for the default, %s",
			prescient.ErrInvalid, options.PrimaryAfter, DefaultPrimaryAfter)
	case options.EscalateAfter <= options.PrimaryAfter:
		return nil, fmt.Errorf("orders: %w: EscalateAfter %s: must be more than PrimaryAfter, %s (0 for the default, %s)",
			prescient.ErrInvalid, options.EscalateAfter, options.PrimaryAfter, DefaultEscalateAfter)
	}
	return &Orders{options}, nil
}

// sql puts the names of the tables into a statement.
func (o *Orders) sql(statement string) string { return withPrefix(statement, o.options.Prefix) }

func entity(id int64) prescient.Entity {
	return prescient.Entity{Name: EntityName, Key: strconv.FormatInt(id, 10)}
}
