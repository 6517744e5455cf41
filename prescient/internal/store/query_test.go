package store

import (
	"context"
	"errors"
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
		asked   int
	}{
		{"shown at once", []error{nil}, nil, 1},
		{"shown later", []error{hidden, hidden, nil}, nil, 3},
		{"another error", []error{hidden, refused}, refused, 2},
		{"never shown", []error{hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden, hidden}, hidden, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			asked := 0
			err := UntilShown(ctx, func(context.Context) error {
				asked++
				return c.answers[asked-1]
			})
			if !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("%s: asked %d times: %v; want %d, %v", c.name, asked, err, c.asked, c.want)
			}
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
