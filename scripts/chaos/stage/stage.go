package stage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/wire"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/worker"
	text "prescient/sql"
)

// How the workers of every scenario are set up: as small as the product lets them be, so that minutes hold many slots,
// leases and batches.
const (
	prefix     = "c_"
	entity     = "chaos"
	resolution = time.Second
	lease      = 3 * time.Second
	batch      = 40
	sweepEvery = time.Second
	stopGrace  = time.Second
	maxChecks  = 3
	maxErrors  = 2
)

// stage is one run of one scenario.
type stage struct {
	scenario Scenario
	engine   Engine
	seed     uint64
	dir      string
	database string
	ledger   *checker.Ledger
	socket   string
	app      *sql.DB
	client   *client.Client
	crew     []*place
	frozen   time.Duration
	calls    atomic.Int64
	over     atomic.Bool // the time of faults
	log      func(format string, args ...any)

	clockProgram string                   // see Campaign.Clock
	timings      map[string]time.Duration // that the scenario took
}

// dsn names the stage's database, with further parameters.
func (s *stage) dsn(params string) string { return with(s.engine.dsn(s.database, 0, nil), params) }

// workerDSN names it for the worker in a place: by the network that breaks, each worker at home on another node of a
// cluster, and on a server of our own by an account without any rights that let it by where others are refused.
func (s *stage) workerDSN(place int) string {
	return with(s.engine.dsn(s.database, place, func(config *mysql.Config) {
		config.Net = wire.Network
		if s.engine.server != nil {
			config.User, config.Passwd = workerUser, workerPassword
		}
	}), s.scenario.Params)
}

// with adds parameters to a DSN.
func with(dsn, params string) string {
	switch {
	case params == "":
		return dsn
	case strings.Contains(dsn, "?"):
		return dsn + "&" + params
	}
	return dsn + "?" + params
}

// dice is a source of chance that nobody else has.
func (s *stage) dice(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, stream)) }

// sockets is how many there were in this process.
var sockets atomic.Int64

// open makes database, tables and ledger, and names the socket.
func (s *stage) open(ctx context.Context) (err error) {
	if s.ledger, err = checker.NewLedger(filepath.Join(s.dir, "ledger.jsonl")); err != nil {
		return err
	}
	// A name without a file: the path of one may be longer than a socket's may be.
	s.socket = fmt.Sprintf("@prescient-%d-%d", os.Getpid(), sockets.Add(1))
	statements := []string{"DROP DATABASE IF EXISTS " + s.database, "CREATE DATABASE " + s.database + " CHARACTER SET utf8mb4"}
	if s.engine.server != nil {
		statements = append(statements, "CREATE USER IF NOT EXISTS "+workerUser+" IDENTIFIED BY '"+workerPassword+"'",
			"GRANT ALL ON "+s.database+".* TO "+workerUser)
	}
	if err := s.engine.admin(ctx, statements...); err != nil {
		return fmt.Errorf("making the database: %w", err)
	}
	if s.app, err = open(s.dsn("readTimeout=10s&timeout=5s")); err != nil {
		return err
	}
	s.app.SetConnMaxLifetime(2 * time.Second) // new ones see what was set meanwhile
	if _, err := text.Up(ctx, s.app, text.Schema{Prefix: prefix, Resolution: resolution}); err != nil {
		return err
	}
	// No key but a number, without which a replication group refuses rows: an effect that is there twice must show.
	if _, err := s.app.ExecContext(ctx, "CREATE TABLE "+prefix+"effects (id BIGINT NOT NULL, checks INT NOT NULL, n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY)"); err != nil {
		return err
	}
	if err := checker.Watch(ctx, s.app, prefix); err != nil {
		return err
	}
	for _, statement := range s.scenario.Tables {
		if _, err := s.app.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("setting up: %w", err)
		}
	}
	s.client, err = client.New(ctx, s.app, client.Options{Prefix: prefix})
	return err
}

// listen takes the reports of the workers until ctx ends.
func (s *stage) listen(ctx context.Context) error {
	listener, err := net.Listen("unix", s.socket)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(s.report)}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log("the checker's socket: %v", err)
		}
	}()
	return nil
}

// report notes what a worker says. It has the answer only when the ledger has it.
func (s *stage) report(w http.ResponseWriter, r *http.Request) {
	var e checker.Event
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch e.Kind {
	case checker.Call:
		e.N = s.calls.Add(1)
	case checker.Fault:
		e.Took += settling
		if strings.HasPrefix(e.What, "freeze") {
			e.Took += s.frozen
			time.AfterFunc(s.frozen, func() { _ = syscall.Kill(e.Pid, syscall.SIGCONT) })
		}
	}
	s.ledger.Note(e)
	_ = json.NewEncoder(w).Encode(e.N)
}

// settling is how long after a fault its victim may still have been at work.
const settling = 300 * time.Millisecond

// fault notes that something is about to be broken: for one worker, or for all where that is empty.
func (s *stage) fault(what, worker string, lasts time.Duration) {
	s.ledger.Note(checker.Event{Kind: checker.Fault, What: what, Worker: worker, Took: lasts + settling})
}

// watchClock asks the database for its time, again and again.
func (s *stage) watchClock(ctx context.Context) error {
	db, err := open(s.dsn("parseTime=true&timeout=1s&readTimeout=1s"))
	if err != nil {
		return err
	}
	go func() {
		defer db.Close()
		for ctx.Err() == nil {
			before := s.ledger.Now()
			var said time.Time
			if err := db.QueryRowContext(ctx, "SELECT UTC_TIMESTAMP(6)").Scan(&said); err == nil {
				after := s.ledger.Now()
				s.ledger.NoteAt(checker.Event{Kind: checker.Clock, At: after, Took: after - before, Said: said})
			}
			pause(ctx, 50*time.Millisecond)
		}
	}()
	return nil
}

// rules are what the checker is to hold this run against.
func (s *stage) rules() checker.Rules {
	rules := checker.Rules{Resolution: resolution, Entity: entity, Batch: batch, Streams: 2, MaxLate: 20 * time.Second,
		MaxChecks: maxChecks, MaxErrors: maxErrors, InFlight: 10 * time.Second, Outcomes: worker.Outcomes(), Tx: worker.IsTx(),
		LocksNeighbours: s.engine.locksNeighbours()}
	if s.scenario.Rules != nil {
		s.scenario.Rules(&rules)
	}
	return rules
}

// run plays the scenario and returns the verdict.
func (s *stage) run(ctx context.Context, duration time.Duration) (report checker.Report, err error) {
	if err := s.open(ctx); err != nil {
		return report, err
	}
	defer s.app.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := errors.Join(s.listen(ctx), s.watchClock(ctx)); err != nil {
		return report, err
	}
	playing, stop := context.WithTimeout(ctx, duration)
	defer stop()
	s.hire(ctx)
	defer s.dismiss()
	var busy sync.WaitGroup
	for i := range apps {
		busy.Go(func() { s.newApp(uint64(i)).play(playing) })
	}
	if s.scenario.Faults != nil {
		busy.Go(func() { s.scenario.Faults(playing, s) })
	}
	busy.Wait()
	s.over.Store(true)
	if err := s.drain(ctx); err != nil {
		return report, err
	}
	s.dismiss()
	tables, err := s.read(ctx)
	if err != nil {
		return report, err
	}
	report = checker.Judge(s.rules(), s.ledger.Events(), tables)
	return report, s.ledger.Close()
}

// drain waits until nothing is pending but what is far ahead.
func (s *stage) drain(ctx context.Context) error {
	left := -1
	var err error
	for until := time.Now().Add(s.scenario.Drain); time.Now().Before(until); pause(ctx, 200*time.Millisecond) {
		err = s.app.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+prefix+"future_job WHERE next_check_at < UTC_TIMESTAMP() + INTERVAL 6 HOUR").Scan(&left)
		if err == nil && left == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.log("after %s %d rows are still pending (%v)", s.scenario.Drain, left, err)
	return nil // the checker sees them
}

// read reads the tables as a worker does: on a cluster, once the node has all that was committed.
func (s *stage) read(ctx context.Context) (checker.Tables, error) {
	db, err := connect.Open(s.dsn(""), 0)
	if err != nil {
		return checker.Tables{}, err
	}
	defer db.Close()
	tables, err := checker.Read(ctx, db.DB, prefix, counted())
	if err == nil && !tables.AllClaims {
		s.log("no trigger here noted the claims: whoever claimed a bucket last may end its rows")
	}
	return tables, err
}

// counted are the outcomes that slot runs count: all but those of the app.
func counted() (list []string) {
	for _, outcome := range prescient.Outcomes() {
		if outcome != prescient.Cancelled {
			list = append(list, string(outcome))
		}
	}
	return list
}

// pause waits; it says whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// The account of the workers on a server that is ours, and gone with it.
const (
	workerUser     = "chaos_worker"
	workerPassword = "only on loopback"
)

// clear drops the stage's database.
func (s *stage) clear(ctx context.Context) error {
	return errors.Join(s.engine.admin(ctx, "DROP DATABASE IF EXISTS "+s.database), os.RemoveAll(s.dir))
}

// now is the time by the database's clock, as far as it was asked.
func (s *stage) now() time.Time { return s.ledger.Told() }
