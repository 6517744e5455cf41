package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", "---\n...\n", Example, uncommented(), "a: &a [*a]", "worker: {lease: 1s}\nworker.lease: 2s", "- 1", "\xff",
		"worker: {<<: {lease: 5s}}", "? [a]\n: b", "dsn: 'u:p@tcp(h)/d?strict=1'", "slots: {resolution: 1s}\nworker: {minutes: '*'}",
		"worker: {share: 1/0}", "worker: {pools: {a: 1, b: 2}}", "worker: {pools: {'a=1,b': 2}}", "worker: {pools: {? [a] : &x 1}}", "jobs: {http: [{headers: {'': x}}, null, []]}", "x: !!binary a", "\"dsn\": \"\\x00\"", "# only this",
	} {
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "prescient.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		options := given{}.options(t)
		options.File = path
		c, err := Load(options)
		if err != nil {
			checkErrors(t, err)
			return
		}
		checkValid(t, c)
	})
}

// checkErrors holds that there is one line for each error, and that each names a key.
func checkErrors(t *testing.T, err error) {
	t.Helper()
	list := err.(interface{ Unwrap() []error }).Unwrap()
	if lines := strings.Count(err.Error(), "\n") + 1; lines != len(list) {
		t.Errorf("%d errors in %d lines:\n%s", len(list), lines, err)
	}
	for _, err := range list {
		var one *Error
		if !errors.As(err, &one) || one.Key == "" || one.Source == "" || !utf8.ValidString(err.Error()) {
			t.Errorf("not a good error: %q", err)
		}
	}
}

func checkValid(t *testing.T, c Config) {
	t.Helper()
	if c.Grid.IsZero() || c.Worker.Assignment.Grid() != c.Grid || !c.Worker.Assignment.Next(time.Unix(0, 0)).After(time.Unix(0, 0)) {
		t.Errorf("the slots are not valid: %s", c)
	}
	if w := c.Worker; w.Concurrency < 1 || w.Buckets < 0 || w.PutOffPurge < 0 || w.Batch < 1 || w.Batch > 20000 || w.Lease < 2*time.Second || w.Lease > time.Hour || w.StopGrace < 0 {
		t.Errorf("the worker is not valid: %+v", w)
	}
	for name, n := range c.Worker.Pools {
		if name == "" || n < 1 {
			t.Errorf("a pool is not valid: %q of %d", name, n)
		}
	}
	if g := c.Guards; g.Timeout <= 0 || g.MaxChecks == 0 || g.MaxErrors == 0 || g.RetryWithin < 0 || g.Horizon <= 0 || g.Concurrency < 0 || g.SLA < 0 {
		t.Errorf("the guards are not valid: %+v", g)
	}
	if c.Sweep.Every <= 0 || c.Sweep.Grace < 0 || c.Sweep.Rate < 0 || c.Jobs.Orders.EscalateAfter <= c.Jobs.Orders.PrimaryAfter {
		t.Errorf("not valid: %+v", bare(c))
	}
	for _, job := range c.Jobs.HTTP {
		if job.Exec == "" || job.URL.IsZero() || job.Guards.Timeout < 0 || job.Guards.MaxChecks < None {
			t.Errorf("a job is not valid: %+v", job)
		}
	}
	if c.Redacted() == "" || c.String() == "" {
		t.Error("the configuration describes nothing")
	}
}
