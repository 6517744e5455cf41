package demo

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/cmd/internal/private"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	"prescient/sql/migrate"

	"prescient/config/value"
)

const (
	demoResolution = time.Second
	demoDatabase   = "prescient_demo"
	demoTime       = time.Minute // bounds the preparations and the tidying up
)

// stage is what a demonstration takes place on: a database, and in it an app with its worker.
type stage struct {
	server string // for people to read
	dsn    string
	prefix string
	shown  fmt.Stringer // the DSN, masked; nil on a private server
	own    *localserver.Server
	app    *sql.DB  // the app's connections, as an app has them
	db     *sqlx.DB // the worker's

	client     *client.Client
	worker     *worker.Worker
	schedules  *schedule.Schedules // with the outbox
	forwarders forwarders
	// Both place and check orders; they differ in what a shipment does with the check.
	leaving, cancelling *orders.Orders
	offset              time.Duration // from this machine's clock to the database's
	foretold            *foretold     // nil where nothing was
	deal                func(ctx context.Context, d deed) (orders.Placed, error)
}

// newStage is a stage with a prefix of its own for its tables.
func newStage() *stage {
	suffix := make([]byte, 3)
	_, _ = rand.Read(suffix) // it never fails
	s := &stage{prefix: "demo_" + hex.EncodeToString(suffix) + "_"}
	s.deal = s.transact
	return s
}

// buildStage makes everything ready. What it made is gone again where it fails.
func buildStage(ctx context.Context, prog *program.Program, c config.Config, f demoFlags, t *teller) (*stage, error) {
	ctx, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	s := newStage()
	err := s.openDatabase(ctx, c.DSN, t)
	if err == nil {
		err = s.makeTables(ctx)
	}
	if err == nil {
		err = s.cast(ctx, prog, c, f, t)
	}
	if err != nil {
		return nil, errors.Join(s.explain(err), s.tearDown(false))
	}
	return s, nil
}

// openDatabase opens the database that was given, or one of its own.
func (s *stage) openDatabase(ctx context.Context, given value.Secret, t *teller) (err error) {
	dsn := given.Reveal()
	if dsn == "" {
		if dsn, err = s.startServer(ctx, t); err != nil {
			return err
		}
	} else {
		s.shown = given
	}
	s.dsn = dsn
	if s.db, err = connect.Open(dsn, 0); err != nil {
		return err
	}
	connector, err := connect.NewConnector(dsn)
	if err != nil {
		return err
	}
	s.app = sql.OpenDB(connector)
	s.app.SetMaxOpenConns(demoClerks)
	s.app.SetMaxIdleConns(demoClerks)
	var version string
	if err := s.db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return fmt.Errorf("asking the server for its version: %w", err)
	}
	s.server = version
	return nil
}

func (s *stage) startServer(ctx context.Context, t *teller) (dsn string, err error) {
	t.note("starting a private database server in a temporary folder")
	s.own, dsn, err = private.Start(ctx, localserver.Options{}, demoDatabase)
	if errors.Is(err, localserver.ErrNotFound) {
		err = fmt.Errorf("%w; scripts/demo gets one, and --dsn works on a server that is there", err)
	}
	return dsn, err
}

func (s *stage) makeTables(ctx context.Context) error {
	if _, err := migrate.Up(ctx, s.db.DB, migrate.Schema{Prefix: s.prefix, Resolution: demoResolution}); err != nil {
		return err
	}
	return orders.CreateTables(ctx, s.db, s.prefix)
}

// cast makes the client, the app and the worker, as any program would.
func (s *stage) cast(ctx context.Context, prog *program.Program, c config.Config, f demoFlags, t *teller) (err error) {
	if s.client, err = client.New(ctx, s.db, client.Options{Prefix: s.prefix}); err != nil {
		return err
	}
	s.schedules = schedule.New(s.client)
	if s.forwarders, err = newForwarders(ctx, s.db, s.prefix, s.schedules.Outbox(), t.told); err != nil {
		return err
	}
	options := orders.Options{DB: s.db, Client: s.client, Prefix: s.prefix, PrimaryAfter: f.alertAfter,
		EscalateAfter: f.escalateAfter, OnAlert: func(_ context.Context, alert orders.Alert) { t.alert(alert) }}
	if s.leaving, err = orders.New(options); err != nil {
		return err
	}
	options.CancelOnShip = true
	if s.cancelling, err = orders.New(options); err != nil {
		return err
	}
	registry := prescient.NewRegistry()
	if err := s.leaving.Register(registry, prescient.Guards{}); err != nil {
		return err
	}
	if err := s.registerReport(registry, t); err != nil {
		return err
	}
	c.Log.Level = max(c.Log.Level, demoLogLevel)
	s.worker, err = worker.New(ctx, s.db, worker.Options{Prefix: s.prefix, Registry: registry,
		Times: worker.Times{StopGrace: 5 * time.Second}, Sweep: worker.Sweep{Every: 5 * time.Second, Grace: 2 * time.Second}, Log: prog.Logger(c.Log)})
	if err != nil {
		return err
	}
	now, err := s.worker.Now(ctx)
	s.offset = time.Until(now)
	if err != nil {
		return err
	}
	return s.createReport(ctx)
}

// now is the database's time, as far as this machine can tell: slots come by that clock.
func (s *stage) now() time.Time { return time.Now().Add(s.offset) }

// explain names the database that could not be reached.
func (s *stage) explain(err error) error {
	if s.shown == nil || errors.Is(err, context.Canceled) || !connect.IsUnreachable(err) {
		return err
	}
	return fmt.Errorf("database %s: %w", s.shown, err)
}

// tearDown drops the tables, unless they are to be kept or go with the server.
func (s *stage) tearDown(keep bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), demoTime)
	defer cancel()
	var errs []error
	if s.db != nil && s.own == nil && !keep && s.server != "" {
		errs = append(errs, s.dropTables(ctx))
	}
	errs = append(errs, s.disconnect())
	if s.own != nil {
		errs = append(errs, s.own.Close())
	}
	return errors.Join(errs...)
}

// disconnect closes the pools that there are.
func (s *stage) disconnect() (err error) {
	if s.app != nil {
		err = s.app.Close()
	}
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

func (s *stage) dropTables(ctx context.Context) error {
	_, err := migrate.Down(ctx, s.db.DB, migrate.Schema{Prefix: s.prefix, Resolution: demoResolution})
	names := []string{"orders", "order_alerts", "shop_orders", "schema_version"}
	_, dropErr := s.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+s.prefix+strings.Join(names, ", "+s.prefix))
	if err := errors.Join(err, dropErr); err != nil {
		return fmt.Errorf("dropping the tables of the demonstration, %s…: %w", s.prefix, err)
	}
	return nil
}
