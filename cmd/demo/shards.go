package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jmoiron/sqlx"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// shardsTime bounds how long vtgate may take to hear of new tables.
const shardsTime = 30 * time.Second

// sharded is a stage of two shards: the app has one pool for both, and each has a worker of its own, in the same process.
type sharded struct {
	*stage
	cluster    *vitess.Cluster
	shards     map[string]*shard
	alertAfter time.Duration
}

// shard is one of them, in sessions that are targeted at it.
type shard struct {
	db     *sqlx.DB
	client *client.Client
	worker *worker.Worker
}

// shardBooks are the end of a demonstration on shards.
type shardBooks struct {
	books
	Shards []shardCount `json:"shards"`
	// Commits are how vtgate counts transactions that wrote: Single is on one shard.
	Commits map[string]int `json:"commits"`
}

type shardCount struct {
	Shard   string `json:"shard"`
	Ended   int    `json:"ended"`
	Pending int    `json:"pending"`
}

// playShards lets orders arrive and be shipped on a private Vitess of two shards.
func playShards(cmd *cobra.Command, prog *program.Program, c config.Config, f demoFlags) (err error) {
	ctx := cmd.Context()
	t := newTeller(prog, cmd.OutOrStdout(), f)
	s := &sharded{stage: newStage(), shards: make(map[string]*shard), alertAfter: f.alertAfter}
	s.deal = s.transactOn
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.build(ctx, prog, c, f, t); err != nil {
		return err
	}
	t.beginShards(s.server, f, s.cluster)
	if err := s.act(ctx, f, t, s.work); err != nil {
		return err
	}
	books, err := s.audit(context.WithoutCancel(ctx), f, t)
	if err != nil {
		return err
	}
	if err := t.endShards(books); err != nil {
		return err
	}
	if !books.Balanced {
		return errors.New("the books do not balance: " + books.Problem)
	}
	return nil
}

// build starts the cluster, and makes the tables, the app and the workers.
func (s *sharded) build(ctx context.Context, prog *program.Program, c config.Config, f demoFlags, t *teller) error {
	vschema, err := shards.VSchema(s.prefix, []byte(shopVSchema(s.prefix)))
	if err != nil {
		return err
	}
	t.note("starting a private Vitess of two shards in a temporary folder")
	if s.cluster, err = vitess.Start(ctx, vitess.Options{Shards: 2, VSchema: string(vschema)}); err != nil {
		return err
	}
	for _, one := range s.cluster.Shards {
		if s.shards[one.Name], err = s.open(ctx, one.DSN(), prog, c, f, t); err != nil {
			return fmt.Errorf("shard %s: %w", one.Name, err)
		}
	}
	if err := s.cluster.Control(ctx, "ReloadSchemaKeyspace", vitess.Keyspace); err != nil {
		return err
	}
	if s.db, err = connect.Open(s.cluster.DSN(), 0); err != nil {
		return err
	}
	connector, err := connect.NewConnector(s.cluster.DSN())
	if err != nil {
		return err
	}
	s.app = sql.OpenDB(connector)
	s.app.SetMaxOpenConns(demoClerks)
	if err := s.db.GetContext(ctx, &s.server, "SELECT @@version"); err != nil {
		return fmt.Errorf("asking the server for its version: %w", err)
	}
	if s.client, err = client.New(ctx, s.db, client.Options{Prefix: s.prefix}); err != nil {
		return err
	}
	return s.rehearse(ctx)
}

// open makes the tables of a shard, and its worker. The checks are those of jobs/orders as they are: they look at one shard.
func (s *sharded) open(ctx context.Context, dsn string, prog *program.Program, c config.Config, f demoFlags, t *teller) (of *shard, err error) {
	of = &shard{}
	if of.db, err = connect.Open(dsn, 0); err != nil {
		return nil, err
	}
	if _, err := migrate.Up(ctx, of.db.DB, migrate.Schema{Prefix: s.prefix, Resolution: demoResolution}); err != nil {
		return of, err
	}
	if err := orders.CreateTables(ctx, of.db, s.prefix); err != nil {
		return of, err
	}
	// The app writes the place of an order; that of an alert, which a worker writes on the shard itself, MySQL can tell.
	for _, add := range []string{"orders ADD place BINARY(12) NOT NULL",
		"order_alerts ADD place BINARY(12) AS (LEFT(UNHEX(SHA2(CONCAT('" + orders.EntityName + "', CHAR(0), order_id), 256)), 12)) STORED"} {
		if _, err := of.db.ExecContext(ctx, "ALTER TABLE "+s.prefix+add); err != nil {
			return of, fmt.Errorf("giving the app's tables a place: %w", err)
		}
	}
	if of.client, err = client.New(ctx, of.db, client.Options{Prefix: s.prefix}); err != nil {
		return of, err
	}
	checks, err := orders.New(orders.Options{DB: of.db, Prefix: s.prefix, PrimaryAfter: f.alertAfter, EscalateAfter: f.escalateAfter,
		OnAlert: func(_ context.Context, alert orders.Alert) { t.alert(alert) }})
	if err != nil {
		return of, err
	}
	registry := prescient.NewRegistry()
	if err := checks.Register(registry, prescient.Guards{}); err != nil {
		return of, err
	}
	c.Log.Level = max(c.Log.Level, demoLogLevel)
	of.worker, err = worker.New(ctx, of.db, worker.Options{Prefix: s.prefix, Registry: registry,
		Times: worker.Times{StopGrace: 5 * time.Second}, Sweep: worker.Sweep{Every: 5 * time.Second, Grace: 2 * time.Second}, Log: prog.Logger(c.Log)})
	return of, err
}

// shopVSchema is that of the app: its rows lie with their checks, by the vindex that these have.
func shopVSchema(prefix string) string {
	const byPlace = `{"column_vindexes": [{"column": "place", "name": "prescient_key"}]}`
	return fmt.Sprintf(`{"sharded": true, "tables": {"%[1]sorders": %[2]s, "%[1]sorder_alerts": %[2]s}}`, prefix, byPlace)
}

// rehearse places an order on each shard and takes it back, until vtgate has heard of all columns.
func (s *sharded) rehearse(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shardsTime)
	defer cancel()
	_, err := backoff.Retry(ctx, func() (any, error) {
		for order := int64(1); order <= 8; order++ { // some on each
			tx, err := s.app.BeginTx(ctx, nil)
			if err != nil {
				return nil, err
			}
			_, err = s.place(ctx, tx, order)
			if err == nil {
				err = s.ship(ctx, tx, order, true)
			}
			if err = errors.Join(err, tx.Rollback()); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}, backoff.WithBackOff(backoff.NewConstantBackOff(100*time.Millisecond)))
	if err != nil {
		return fmt.Errorf("waiting until vtgate knows the tables: %w", err)
	}
	return nil
}

// transactOn does a deed in a transaction, as an app would that has one pool for all shards: all that it sends names the place of the order, and so
// goes to the shard that has its check.
func (s *sharded) transactOn(ctx context.Context, d deed) (placed orders.Placed, err error) {
	tx, err := s.app.BeginTx(ctx, nil)
	if err != nil {
		return placed, err
	}
	defer func() { _ = tx.Rollback() }() // nothing is left to roll back after a commit
	if d.ship {
		err = s.ship(ctx, tx, d.order, d.cancel)
	} else {
		placed, err = s.place(ctx, tx, d.order)
	}
	if err != nil {
		return placed, err
	}
	return placed, tx.Commit()
}

func orderEntity(order int64) prescient.Entity {
	return prescient.Entity{Name: orders.EntityName, Key: strconv.FormatInt(order, 10)}
}

func (s *sharded) place(ctx context.Context, tx *sql.Tx, order int64) (placed orders.Placed, err error) {
	entity, at := orderEntity(order), s.now().UTC()
	place := entity.KeyspaceID()
	if _, err := tx.ExecContext(ctx, "INSERT INTO "+s.prefix+"orders (place, id, placed_at) VALUES (?, ?, ?)", place[:], order, at); err != nil {
		return placed, fmt.Errorf("placing order %d: %w", order, err)
	}
	placed = orders.Placed{ID: order, PlacedAt: at}
	placed.Check, err = s.client.Insert(ctx, tx, prescient.NewJob{Entity: entity, JobExec: orders.DefaultJobExec, DueAt: at.Add(s.alertAfter)})
	return placed, err
}

func (s *sharded) ship(ctx context.Context, tx *sql.Tx, order int64, cancel bool) error {
	entity := orderEntity(order)
	place := entity.KeyspaceID()
	if _, err := tx.ExecContext(ctx, "UPDATE "+s.prefix+"orders SET shipped_at = UTC_TIMESTAMP(6) WHERE place = ? AND id = ?", place[:], order); err != nil {
		return fmt.Errorf("shipping order %d: %w", order, err)
	}
	if !cancel {
		return nil
	}
	_, err := s.client.Cancel(ctx, tx, entity, orders.DefaultJobExec)
	return err
}

// work has each shard's worker work until ctx ends.
func (s *sharded) work(ctx context.Context) error {
	return shards.Each(ctx, slices.Sorted(maps.Keys(s.shards)), func(ctx context.Context, name string) error { return s.shards[name].worker.Work(ctx) })
}

// audit reads what is pending and what ended on each shard, and holds it against what the app inserted.
func (s *sharded) audit(ctx context.Context, f demoFlags, t *teller) (b shardBooks, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*demoTime)
	defer cancel()
	var pending []prescient.FutureJob
	var ended []client.Ended
	for _, one := range s.cluster.Shards {
		of := s.shards[one.Name]
		waits, ends, err := rowsOf(ctx, of.client, of.db)
		if err != nil {
			return b, err
		}
		pending, ended = append(pending, waits...), append(ended, ends...)
		b.Shards = append(b.Shards, shardCount{one.Name, len(ends), len(waits)})
	}
	inserted, alerts, escalations := t.counts()
	b.books = balance(inserted, pending, ended)
	b.Server, b.Seed, b.TablePrefix, b.Planned, b.Alerts, b.Escalations = s.server, f.seed, s.prefix, f.orders, alerts, escalations
	b.Commits, err = s.cluster.Counts(ctx, "CommitModeTimings")
	return b, err
}

func (s *sharded) close() error {
	var errs []error
	for _, of := range s.shards {
		if of != nil && of.db != nil {
			errs = append(errs, of.db.Close())
		}
	}
	errs = append(errs, s.disconnect())
	if s.cluster != nil {
		errs = append(errs, s.cluster.Close())
	}
	return errors.Join(errs...)
}

// beginShards introduces the story.
func (t *teller) beginShards(server string, f demoFlags, cluster *vitess.Cluster) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for _, one := range cluster.Shards {
		names = append(names, one.Name)
	}
	t.line("%s on %s, shards %s, for %s (--seed %d)", t.paint(bold, "prescient demo"), server, strings.Join(names, " and "), f.lastsFor, f.seed)
	t.line("  An order is inserted together with its check, in one transaction, which goes to the shard of the order's hash.")
	t.line("  One process has a worker for each shard. Slots are one second apart; an order is looked at %s after it was placed.", f.alertAfter)
	t.line("  One that is not shipped by then is alerted about, and escalated %s after it was placed.", f.escalateAfter)
	t.line("")
}

// endShards prints the books of all shards.
func (t *teller) endShards(b shardBooks) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		t.out.JSON(b)
		return t.out.Err()
	}
	t.line("")
	t.line("%s", t.paint(bold, "The books"))
	t.line("  inserted  %6d  a check with each order%s", b.Inserted, missed(b.Planned-b.Inserted))
	for _, one := range b.Shards {
		t.line("  %-8s  %6d  ended there, and %d are pending", one.Shard, one.Ended, one.Pending)
	}
	t.line("  %s", t.verdict(b.books))
	t.line("  alerts    %6d  orders that were not shipped in time; %d of them escalated", b.Alerts, b.Escalations)
	if b.Lateness != nil {
		t.line("  lateness  p50 %d ms, p99 %d ms, max %d ms: the start of a check against its slot", b.Lateness.P50, b.Lateness.P99, b.Lateness.Max)
	}
	commits := 0
	for _, n := range b.Commits {
		commits += n
	}
	t.line("  commits   %6d  by vtgate's count, %d of them on several shards", commits, commits-b.Commits["Single"])
	return t.out.Err()
}
