package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"prescient/prescient/event"
)

// topic is that of all events.
const topic = "chaos"

// app publishes events of keys of its own, one transaction after the other.
type app struct {
	name   string
	db     *sql.DB
	outbox *event.Outbox
	rng    *rand.Rand
	bad    bool // some of its events are refused by the broker

	mu      sync.Mutex
	told    []Told
	numbers map[string]int
}

// keysOfAnApp is how many keys an app has, and mostInOne how many events a transaction.
const keysOfAnApp, mostInOne = 5, 4

// run publishes until ctx ends. What fails is noted by its fate, and the app goes on.
func (a *app) run(ctx context.Context) {
	for ctx.Err() == nil {
		n := 1 + a.rng.IntN(mostInOne)
		some := make([]Told, n)
		for i := range some {
			key := fmt.Sprintf("%s/%d", a.name, a.rng.IntN(keysOfAnApp))
			a.numbers[key]++
			some[i] = Told{ID: fmt.Sprintf("%s-%d", key, a.numbers[key]), Key: key, Number: a.numbers[key]}
			if a.bad && a.rng.IntN(20) == 0 {
				some[i].ID, some[i].Bad = "bad-"+some[i].ID, true
			}
		}
		fate := a.transact(context.WithoutCancel(ctx), some)
		a.mu.Lock()
		for _, t := range some {
			t.Fate = fate
			a.told = append(a.told, t)
		}
		a.mu.Unlock()
	}
}

// transact publishes events in one transaction, and says what became of it.
func (a *app) transact(ctx context.Context, some []Told) Fate {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		time.Sleep(50 * time.Millisecond) // the server is down: no use in asking all the time
		return RolledBack
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	for _, t := range some {
		if err := a.outbox.Publish(ctx, tx, event.Event{ID: t.ID, Topic: topic, Key: t.Key, Payload: []byte(bodyOf(t.ID))}); err != nil {
			return RolledBack
		}
	}
	if a.rng.IntN(8) == 0 {
		time.Sleep(time.Duration(a.rng.IntN(300)) * time.Millisecond) // it commits late
	}
	if a.rng.IntN(6) == 0 {
		return RolledBack
	}
	if tx.Commit() != nil {
		return Unknown
	}
	return Committed
}
