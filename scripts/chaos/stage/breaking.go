package stage

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/scripts/chaos/checker"
	text "prescient/sql"
)

// What the faults of a scenario are made with.

// Dice is a source of chance that nobody else has.
func (s *Stage) Dice(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, stream)) }

// Now is the time by the database's clock, as far as it was asked.
func (s *Stage) Now() time.Time { return s.journal.Told() }

// Any is one of the places.
func (s *Stage) Any(dice *rand.Rand) *Place { return s.crew.places[dice.IntN(len(s.crew.places))] }

// FreezeAll stops all workers for a while.
func (s *Stage) FreezeAll(ctx context.Context, d time.Duration) {
	var all sync.WaitGroup
	for _, p := range s.crew.places {
		all.Go(func() { p.Freeze(ctx, d) })
	}
	all.Wait()
}

// IntoSlot waits for the next slot and some more; it says whether ctx still lives.
func (s *Stage) IntoSlot(ctx context.Context, more time.Duration) bool {
	now := s.Now()
	return Pause(ctx, now.Truncate(resolution).Add(resolution+more).Sub(now))
}

// Fault notes that something is about to be broken: for one worker, or for all where that is empty.
func (s *Stage) Fault(what, worker string, lasts time.Duration) {
	noteFault(s.journal, what, worker, lasts)
}

// During notes a fault that lasts for as long as do, and its effects for some longer.
func (s *Stage) During(what, worker string, longer time.Duration, do func()) {
	s.duringOn("", what, worker, longer, do)
}

// DuringOn is During for what hits one shard of a Vitess alone.
func (s *Stage) DuringOn(shard, what string, longer time.Duration, do func()) {
	s.duringOn(shard, what, "", longer, do)
}

func (s *Stage) duringOn(shard, what, worker string, longer time.Duration, do func()) {
	began := s.journal.Now()
	do()
	s.journal.NoteAt(checker.Event{At: began, Kind: checker.Fault, What: what, Worker: worker, Shard: shard, Took: s.journal.Now() - began + longer + aftermath})
}

// Find notes a promise that the scenario itself saw broken.
func (s *Stage) Find(rule, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, checker.Finding{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// Remark adds a line to what the run has to say.
func (s *Stage) Remark(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Remarks = append(s.Remarks, fmt.Sprintf(format, args...))
}

// Sessions is how many the workers have; of a given server, where theirs cannot be told from others', none.
func (s *Stage) Sessions(ctx context.Context, admin *sql.Conn) (n int) {
	if err := admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.processlist WHERE user = ?", workerUser).Scan(&n); err != nil {
		return 0 // the time of faults is over
	}
	return n
}

// Account is a pool of an account with the rights of a role.
func (s *Stage) Account(ctx context.Context, name, role string) (*sql.DB, error) {
	_, grants, err := text.Grants(role, text.Account{Database: s.Database, Prefix: Prefix, User: name})
	if err != nil {
		return nil, err
	}
	if err := s.Engine.admin(ctx, slices.Concat([]string{"CREATE USER IF NOT EXISTS '" + name + "'@'%' IDENTIFIED BY '" + workerPassword + "'"}, grants)...); err != nil {
		return nil, err
	}
	return open(with(s.Engine.dsn(s.Database, 0, func(config *mysql.Config) { config.User, config.Passwd = name, workerPassword }), "readTimeout=10s&timeout=5s"))
}

// Admin is a connection that belongs to the faults.
func (s *Stage) Admin(ctx context.Context) (*sql.Conn, func(), error) {
	db, err := open(s.dsn(""))
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return nil, nil, err
	}
	return conn, func() { _ = conn.Close(); _ = db.Close() }, nil
}

// DSN names the stage's database as an operator has it.
func (s *Stage) DSN() string { return s.dsn("") }
