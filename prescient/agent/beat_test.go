package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	text "prescient/sql"
)

// mocked is an agent on a server that answers as the test says; sends counts its statements.
func mocked(t *testing.T, answer func(n int) error) (a *Agent, sends *int, log *strings.Builder) {
	t.Helper()
	statements, err := text.Load("")
	if err != nil {
		t.Fatal(err)
	}
	sends = new(int)
	db, mock, err := sqlmock.New(sqlmock.QueryMatcherOption(sqlmock.QueryMatcherFunc(func(_, _ string) error {
		*sends++
		return nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const most = 500
	for n := range most {
		expected := mock.ExpectExec("")
		if err := answer(n); err != nil {
			expected.WillReturnError(err)
		} else {
			expected.WillReturnResult(sqlmock.NewResult(0, 1))
		}
	}
	log = new(strings.Builder)
	a = &Agent{options: Options{Name: "a", Log: zerolog.New(log)}, db: sqlx.NewDb(db, "mysql"), pools: []byte("{}"), stopping: make(chan struct{})}
	a.tables.Stmt = statements
	return a, sends, log
}

func runFor(a *Agent, d time.Duration) {
	ctx, end := context.WithTimeout(context.Background(), d)
	defer end()
	a.Run(ctx)
}

func TestAnAgentSendsTwoStatementsAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, sends, log := mocked(t, func(int) error { return nil })
		runFor(a, time.Hour)
		// Beside the heartbeats one takes the row away, and one or two forget the dead.
		if *sends > 120 || *sends < 60*60/33 {
			t.Errorf("%d statements in an hour", *sends)
		}
		if log.Len() > 0 {
			t.Errorf("it said %s", log)
		}
	})
}

func TestAHeartbeatThatFailsIsSentAgainSoonAndTheLogSaysSoOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, sends, log := mocked(t, func(n int) error {
			if n >= 2 && n < 12 {
				return context.DeadlineExceeded
			}
			return nil
		})
		runFor(a, 2*time.Minute)
		// One at the beginning, ten that fail within half a minute, and those after that.
		if *sends < 14 || *sends > 18 {
			t.Errorf("%d statements", *sends)
		}
		if n := strings.Count(log.String(), "could not write its heartbeat"); n != 1 {
			t.Errorf("it said %s", log)
		}
	})
}

func TestOneThatIsRefusedTriesAgainWithTheNextHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, sends, _ := mocked(t, func(int) error { return errors.New("refused") })
		runFor(a, 10*time.Minute)
		if *sends < 18 || *sends > 22 {
			t.Errorf("%d statements", *sends)
		}
	})
}

func TestBusyIsTheShareOfTheConcurrencyThatWasInUse(t *testing.T) {
	at := time.Now()
	s := share{of: 4, at: at}
	for i, step := range []struct {
		after, called time.Duration
		want          float64
	}{
		{10 * time.Second, 20 * time.Second, 0.5},
		{10 * time.Second, 0, 0},
		{10 * time.Second, 60 * time.Second, 1}, // what it cannot be is rounding
		{0, time.Second, 1},
		{10 * time.Second, 10 * time.Second, 0.25},
	} {
		at = at.Add(step.after)
		if got := s.since(at, s.called+step.called); got != step.want {
			t.Errorf("step %d: %v; want %v", i, got, step.want)
		}
	}
	if none := (&share{}); none.since(at, time.Second) != 0 {
		t.Error("without a concurrency it is busy")
	}
}

func TestTheLoadOfAHostIsTheFirstNumber(t *testing.T) {
	if load := firstNumber("0.52 0.58 0.59 1/467 12345\n"); load == nil || *load != 0.52 {
		t.Errorf("%v", load)
	}
	for _, strange := range []string{"", "much", "-1 2", "NaN 1", "1e9"} {
		if load := firstNumber(strange); load != nil {
			t.Errorf("%q is %v", strange, *load)
		}
	}
}
