package campaign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"prescient/prescient"

	"prescient/scripts/chaos/stage"
)

// openTransactions is how many transactions are open at a time that hold nothing which is due.
const openTransactions = 12

// holdNothing has apps cancel, move, keep and replace what isn't there, in transactions of seconds, under both isolation
// levels: no row that is due has anything to do with them.
func holdNothing(ctx context.Context, s *stage.Stage) {
	var apps sync.WaitGroup
	defer apps.Wait()
	for i := range openTransactions {
		dice := s.Dice(500 + uint64(i))
		apps.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := openOnNothing(ctx, s, dice, fmt.Sprintf("%d.%d", i, n)); err != nil && ctx.Err() == nil {
					s.Logf("an app that holds nothing: %v", err)
				}
			}
		})
	}
}

// openOnNothing is one such transaction. It is rolled back, so that its checks are nobody's to wait for.
func openOnNothing(ctx context.Context, s *stage.Stage, dice *rand.Rand, key string) error {
	level := []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted}[dice.IntN(2)]
	tx, err := s.App.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// On MariaDB a row that moves waits for its neighbour in UNIQUE (job_key); longer than two slots it is given up, and called
	// again. Elsewhere these transactions explain nothing.
	lasts, whom := time.Duration(1+dice.IntN(4))*time.Second, "nobody"
	if s.Engine.LocksNeighbours() {
		whom = ""
	}
	s.Fault("transaction held open", whom, lasts)
	job := prescient.NewJob{Entity: prescient.Entity{Name: "nobody", Key: key}, JobExec: "done", DueAt: s.Now().Add(time.Hour)}
	insert := func(policy prescient.OnPending) error {
		job.OnPending = policy
		_, err := s.Client.Insert(ctx, tx, job)
		return err
	}
	for range 1 + dice.IntN(3) {
		switch dice.IntN(4) {
		case 0:
			_, err = s.Client.Cancel(ctx, tx, job.Entity)
		case 1:
			if _, err = s.Client.Reschedule(ctx, tx, job.Entity, job.JobExec, "", job.DueAt); errors.Is(err, prescient.ErrNotFound) {
				err = nil
			}
		case 2:
			err = insert(prescient.Keep)
		default:
			err = insert(prescient.Replace)
		}
		if err != nil {
			return err
		}
	}
	stage.Pause(ctx, lasts)
	return nil
}
