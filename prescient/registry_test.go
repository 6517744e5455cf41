package prescient

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func settled(context.Context, FutureJob) (*time.Time, error) { return nil, nil }

func TestWhatCannotBeRegisteredIsRefusedAtStart(t *testing.T) {
	r := NewRegistry()
	if err := r.Register("unshipped", settled, Guards{}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		fn     Func
		guards Guards
		says   string
	}{
		{"unshipped", settled, Guards{}, `job_exec "unshipped" is registered twice`},
		{"", settled, Guards{}, "job_exec is empty"},
		{"un shipped", settled, Guards{}, `job_exec "un shipped": only letters, digits and _ . - are allowed`},
		{"größe", settled, Guards{}, "only letters"},
		{strings.Repeat("x", 65), settled, Guards{}, "has 65 bytes; at most 64 are allowed"},
		{"other", nil, Guards{}, `job_exec "other" has no function`},
		{"other", settled, Guards{Timeout: -time.Second}, `job_exec "other": invalid: guard timeout -1s`},
	} {
		err := r.Register(test.name, test.fn, test.guards)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("registering %q: %v; want ErrInvalid with %q", test.name, err, test.says)
		}
	}
	if got := r.Names(); !slices.Equal(got, []string{"unshipped"}) {
		t.Errorf("registered are %q; want only the first", got)
	}
}

func TestNamesAreSorted(t *testing.T) {
	var r Registry // the zero value is usable
	for _, name := range []string{"b", "a.1", strings.Repeat("x", 64), "A_-"} {
		r.MustRegister(name, settled, Guards{})
	}
	if want := []string{"A_-", "a.1", "b", strings.Repeat("x", 64)}; !slices.Equal(r.Names(), want) {
		t.Errorf("%q; want %q", r.Names(), want)
	}
	if names := (*Registry)(nil).Names(); len(names) != 0 {
		t.Errorf("a registry that is nil has %q", names)
	}
}

func TestMustRegisterPanicsWithTheError(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, ErrInvalid) || err.Error() != "prescient: invalid: job_exec is empty" {
			t.Errorf("panicked with %v", err)
		}
	}()
	NewRegistry().MustRegister("", settled, Guards{})
}
