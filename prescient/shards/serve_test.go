package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
)

// board notes which shards are served.
type board struct {
	mu     sync.Mutex
	shards []string
	served map[string]int
	calls  map[string]int
}

func newBoard(shards ...string) *board {
	return &board{shards: shards, served: make(map[string]int), calls: make(map[string]int)}
}

func (b *board) list(context.Context) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.shards) == 0 {
		return nil, errors.New("vtgate is away")
	}
	return slices.Clone(b.shards), nil
}

func (b *board) become(shards ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shards = shards
}

// serve serves until the end, but for shards for which fails says an error.
func (b *board) serve(fails func(shard string) error) func(ctx context.Context, shard string) error {
	return func(ctx context.Context, shard string) error {
		b.mu.Lock()
		b.calls[shard]++
		b.mu.Unlock()
		if err := fails(shard); err != nil {
			return err
		}
		b.add(shard, 1)
		defer b.add(shard, -1)
		<-ctx.Done()
		return nil
	}
}

func (b *board) add(shard string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.served[shard] += n
}

func (b *board) wants(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for shard, n := range b.served {
		if n > 0 {
			list = append(list, fmt.Sprint(shard, " x", n))
		}
	}
	slices.Sort(list)
	if got := strings.Join(list, ", "); got != want {
		t.Errorf("served are %q; want %q", got, want)
	}
}

func never(string) error { return nil }

// begin serves a keyspace until the test stops it.
func begin(t *testing.T, b *board, every time.Duration, fails func(string) error) (k *Keyspace, log *strings.Builder, stop func() error) {
	t.Helper()
	log = new(strings.Builder)
	k = New(Keyspace{List: b.list, Every: every, Log: zerolog.New(log)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Serve(ctx, b.serve(fails)) }()
	return k, log, func() error {
		cancel()
		return <-ended
	}
}

func TestAShardThatWasDividedIsServedByItsParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard("-80", "80-")
		k, _, stop := begin(t, b, time.Minute, never)
		b.wants(t, "-80 x1, 80- x1")
		b.become("-40", "40-80", "80-")
		time.Sleep(2 * time.Second)
		b.wants(t, "-80 x1, 80- x1") // it was not told
		k.Look()
		b.wants(t, "-40 x1, 40-80 x1, 80- x1")
		b.become("-80", "80-")
		time.Sleep(time.Minute + time.Second)
		b.wants(t, "-80 x1, 80- x1") // by its own look
		if err := stop(); err != nil {
			t.Error(err)
		}
		b.wants(t, "")
	})
}

func TestAShardThatFailsIsTriedAgainWhileTheOthersAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, until := newBoard("-80", "80-"), time.Now().Add(time.Minute)
		_, log, stop := begin(t, b, time.Minute, func(shard string) error {
			if shard == "-80" && time.Now().Before(until) {
				return errors.New("no healthy tablet")
			}
			return nil
		})
		time.Sleep(59 * time.Second)
		b.wants(t, "80- x1")
		time.Sleep(17 * time.Second)
		b.wants(t, "-80 x1, 80- x1")
		if n := b.calls["-80"]; n < 5 || n > 10 {
			t.Errorf("it was tried %d times", n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), `"shard":"-80"`); n != 1 || !strings.Contains(log.String(), "no healthy tablet") {
			t.Errorf("it was said %d times: %s", n, log)
		}
	})
}

func TestShardsAreServedWhileNobodySaysWhichThereAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard("-")
		_, log, stop := begin(t, b, time.Second, never)
		b.wants(t, "- x1")
		b.become()
		time.Sleep(5 * time.Second)
		b.wants(t, "- x1")
		if err := stop(); err != nil || !strings.Contains(log.String(), "vtgate is away") {
			t.Errorf("%v, %s", err, log)
		}
		if err := New(Keyspace{List: b.list}).Serve(t.Context(), nil); err == nil { // nor does it begin
			t.Error("it began without a shard")
		}
	})
}

func TestBadInputEndsAllShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBoard("-80", "80-")
		err := New(Keyspace{List: b.list}).Serve(t.Context(), b.serve(func(shard string) error {
			if shard == "80-" {
				return fmt.Errorf("%w: no such guard", prescient.ErrInvalid)
			}
			return nil
		}))
		if !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
		b.wants(t, "")
	})
}

func TestWhatFailsOnAShardIsNamedAndDoneOnTheOthers(t *testing.T) {
	var mu sync.Mutex
	var done []string
	err := Each(t.Context(), []string{"-40", "40-80", "80-"}, func(_ context.Context, shard string) error {
		mu.Lock()
		defer mu.Unlock()
		done = append(done, shard)
		if shard == "40-80" {
			return context.DeadlineExceeded
		}
		return nil
	})
	if slices.Sort(done); len(done) != 3 || !errors.Is(err, context.DeadlineExceeded) || err.Error() != "shard 40-80: context deadline exceeded" {
		t.Errorf("%q, %v", done, err)
	}
}

func TestShardsAreThoseOfTheKeyspaceInTheirOrder(t *testing.T) {
	all := []string{"other/-", "shop/80-", "shop2/0", "shop/40-80", "shop/-40"}
	for keyspace, want := range map[string]string{"shop": "-40 40-80 80-", "shop@primary": "-40 40-80 80-", "shop2": "0", "sho": ""} {
		if got := strings.Join(of(keyspace, all), " "); got != want {
			t.Errorf("%s: %q; want %q", keyspace, got, want)
		}
	}
}
