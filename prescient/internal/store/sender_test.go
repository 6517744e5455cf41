package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

func waiting(lease, patience time.Duration) *store.Sender {
	return &store.Sender{Timeout: store.StatementTime(lease), Patience: patience}
}

func TestAStatementIsTriedAgainWhileItsErrorPassesAndPatienceLasts(t *testing.T) {
	deadlock := &mysql.MySQLError{Number: 1213}
	for _, test := range []struct {
		name  string
		error func(try int) error
		tries int // at least
		most  int
		want  error
		took  time.Duration // at most
	}{
		{"at once", func(int) error { return nil }, 1, 1, nil, 0},
		{"after two deadlocks", func(try int) error {
			if try < 3 {
				return deadlock
			}
			return nil
		}, 3, 3, nil, time.Second},
		{"an error that stays", func(int) error { return prescient.ErrConfigChanged }, 1, 1, prescient.ErrConfigChanged, 0},
		{"one that passes too late", func(int) error { return deadlock }, 20, 300, deadlock, 2 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, tries := time.Now(), 0
				err := waiting(time.Minute, 2*time.Minute).Query(t.Context(), func(context.Context) error {
					tries++
					return test.error(tries)
				})
				if !errors.Is(err, test.want) || tries < test.tries || tries > test.most || time.Since(began) > test.took {
					t.Errorf("%v after %d tries and %s", err, tries, time.Since(began))
				}
			})
		})
	}
}

func TestAServerThatHangsIsGivenUpAndTriedAgain(t *testing.T) {
	for lease, want := range map[time.Duration]time.Duration{
		time.Minute: 30 * time.Second, 2 * time.Second: time.Second, time.Hour: 30 * time.Second, 20 * time.Second: 10 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			began, tries := time.Now(), 0
			err := waiting(lease, 2*time.Minute).Query(t.Context(), func(ctx context.Context) error {
				if tries++; tries == 2 {
					return nil
				}
				<-ctx.Done()
				if hung := time.Since(began); hung != want {
					t.Errorf("with a lease of %s a statement had %s; want %s", lease, hung, want)
				}
				return ctx.Err()
			})
			if err != nil || tries != 2 {
				t.Errorf("%v after %d tries", err, tries)
			}
		})
	}
}

func TestAnEndOfTheContextEndsTheTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := waiting(time.Minute, time.Hour).Query(ctx, func(context.Context) error { return driver.ErrBadConn })
		if err == nil || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestWaitsGrowTo3Seconds(t *testing.T) {
	waits := store.NewBackOff()
	var all []time.Duration
	for range 30 {
		all = append(all, waits.NextBackOff())
	}
	if all[0] < 25*time.Millisecond || all[0] > 75*time.Millisecond {
		t.Errorf("the first wait is %s; want about 50 ms", all[0])
	}
	for _, wait := range all[20:] {
		if wait < 1500*time.Millisecond || wait > 4500*time.Millisecond {
			t.Errorf("a later wait is %s; want about 3 s", wait)
		}
	}
}
