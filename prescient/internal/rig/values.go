package rig

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

func KeyBytes(k prescient.Key) []byte { return k[:] }

// Order is an entity.
func Order(key string) prescient.Entity { return prescient.Entity{Name: "order", Key: key} }

// Nasty are keys and tags that have been mistreated somewhere by somebody.
func Nasty() []string {
	return []string{
		"42", "O'Brien", `"quoted"`, "`ticked`", `back\slash`, `\`, `\'`, `'; DROP TABLE p_future_job; -- `, "%s%d?", "?", "_", "%",
		"a/b/c", "a:b,c", " leading", "trailing ", "trailing  ", "trailing", "tab\t", "line\nfeed\r\n", "nul\x00", "nul\x00nul", "\x00",
		"\x1a", "\x7f", "CASE", "case", "Case", "naïve", "nai\u0308ve", "ß", "ss", "🚢", "🚢🚚👩👩👧", "日本語",
		"\ufffd", "\U0010ffff", strings.Repeat("k", prescient.MaxTagLen), strings.Repeat("🚢", prescient.MaxTagLen), "0", "NULL", "null", "{prefix}", "{key}", "X'41'",
	}
}

// Unseen are keys and tags that neither a client nor plain SQL inserts: rows of before may have them.
func Unseen() []string {
	return []string{"\u202eabc", "\ufeff", "4\u200b2", "4\u00a02", "👩‍👩‍👧", "❤\ufe0f", "4\u20602", "42\U000e0041"}
}

// Numbered returns so many keys.
func Numbered(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint(i))
	}
	return keys
}

// NothingToDo is a job_exec.
func NothingToDo(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }

// Calls counts how often each entity's job_exec was called, by whichever worker.
type Calls struct {
	mu sync.Mutex
	Of map[string]int
}

func (c *Calls) Count(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Of == nil {
		c.Of = make(map[string]int)
	}
	c.Of[job.EntityKey]++
	return nil, nil
}

func (c *Calls) EachOnce(t *testing.T, n int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.Of) != n {
		t.Errorf("%d rows were called; want %d", len(c.Of), n)
	}
	for key, times := range c.Of {
		if times != 1 {
			t.Errorf("row %s was called %d times", key, times)
		}
	}
}

// NeverCalled is a job_exec for tests that run no slot.
func NeverCalled(context.Context, prescient.FutureJob) (*time.Time, error) {
	return nil, errors.New("nobody should call this")
}

// Registry has one job_exec.
func Registry(name string, fn prescient.Func, guards prescient.Guards) *prescient.Registry {
	r := prescient.NewRegistry()
	r.MustRegister(name, fn, guards)
	return r
}

// Quarter is a grid of quarters of an hour.
var Quarter = func() slots.Grid {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		panic(err)
	}
	return grid
}()

// PendingAt is a check that waits for a slot.
func PendingAt(slot time.Time) prescient.FutureJob {
	return prescient.FutureJob{EntityName: "order", EntityKey: "42", JobExec: "unshipped", DueAt: At("13:05:00.000001"),
		FirstCheckAt: slot, NextCheckAt: slot}
}

// GridOf returns the grid of a resolution.
func GridOf(t *testing.T, resolution time.Duration) slots.Grid {
	t.Helper()
	grid, err := slots.NewGrid(resolution)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", resolution, err))
	}
	return grid
}

func Contains(err error, texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return err == nil || !strings.Contains(err.Error(), text) })
}

func WantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v; want %v", what, err, want)
	}
}

// Fatal ends the test where there is an error.
func Fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Quickest is how long the quickest of three tries takes: what waits for a lock waits each time, and a machine that is busy is not busy each time.
func Quickest(try func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 {
		began := time.Now()
		try()
		least = min(least, time.Since(began))
	}
	return least
}

// Numbers is a table of SQL with so many numbers n, from 0 on: 100,000 at most.
func Numbers(count int) string {
	const digits = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
	return fmt.Sprintf("(SELECT * FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d AS n FROM %[2]s a, %[2]s b, %[2]s c, %[2]s d, %[2]s e) every WHERE n < %[1]d)", count, digits)
}
