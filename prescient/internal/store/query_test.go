package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
)

func TestAListIsAskedForUntilItIsShown(t *testing.T) {
	hidden, refused := &mysql.MySQLError{Number: errno.NotShown}, errors.New("refused")
	for _, c := range []struct {
		name    string
		answers []error
		want    error
		least   int // how often it is asked
		most    int
	}{
		{"shown at once", []error{nil}, nil, 1, 1},
		{"shown later", []error{hidden, hidden, nil}, nil, 3, 3},
		{"another error", []error{hidden, refused}, refused, 2, 2},
		{"never shown", []error{hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden}, hidden, 4, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			asked := 0
			err := UntilShown(ctx, func(context.Context) error {
				asked++
				return c.answers[asked-1]
			})
			if !errors.Is(err, c.want) || asked < c.least || asked > c.most {
				t.Errorf("%s: asked %d times: %v; want %d to %d, %v", c.name, asked, err, c.least, c.most, c.want)
			}
		})
	}
}

// MySQL makes its list of transactions anew only where nobody has read it for a tenth of a second. A statement that was no text for a moment is in there until then.
func TestTwoWhoAskByTurnsAreShownANewList(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			var mu sync.Mutex
			read, hidden := time.Now(), true
			ask := func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				hidden = hidden && time.Since(read) < 100*time.Millisecond
				if read = time.Now(); hidden {
					return &mysql.MySQLError{Number: errno.NotShown}
				}
				return nil
			}
			var both sync.WaitGroup
			for i := range 2 {
				both.Go(func() {
					time.Sleep(time.Duration(i) * 50 * time.Millisecond)
					if err := UntilShown(ctx, ask); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
		})
	}
}

func TestAListThatIsHiddenUntilTheTimeIsOverIsHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		hidden := &mysql.MySQLError{Number: errno.NotShown}
		asked := 0
		err := UntilShown(ctx, func(ctx context.Context) error {
			if asked++; asked == 1 {
				return hidden
			}
			<-ctx.Done() // the server is slow
			return ctx.Err()
		})
		if !errors.Is(err, hidden) {
			t.Error(err)
		}
		if err := UntilShown(ctx, func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a server that never answered: %v", err)
		}
	})
}
