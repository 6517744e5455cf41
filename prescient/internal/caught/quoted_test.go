package caught_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
)

// What is kept of an error is known, and nothing of it is the job_exec's own any more.
func TestWhatIsKeptOfAnError(t *testing.T) {
	plain, other := errors.New("no luck"), errors.New("one of others")
	for _, test := range []struct {
		name string
		err  error
		is   []error
		in   time.Duration
	}{
		{"an error", plain, nil, 0},
		{"a timeout", fmt.Errorf("%w after 1s", prescient.ErrTimeout), []error{prescient.ErrTimeout}, 0},
		{"a panic", fmt.Errorf("%w: boo", prescient.ErrPanic), []error{prescient.ErrPanic}, 0},
		{"one of others", fmt.Errorf("x: %w", other), []error{other}, 0},
		{"a final one", prescient.Final(plain), []error{prescient.ErrFinal}, 0},
		{"a final one, wrapped", fmt.Errorf("x: %w", errors.Join(plain, prescient.Final(prescient.ErrTimeout))), []error{prescient.ErrFinal, prescient.ErrTimeout}, 0},
		{"a retry", prescient.Retry(time.Hour), nil, time.Hour},
		{"a retry, wrapped", fmt.Errorf("x: %w", errors.Join(plain, prescient.Retry(-time.Hour))), nil, -time.Hour},
		{"a retry that is final", prescient.Final(prescient.Retry(time.Hour)), []error{prescient.ErrFinal}, time.Hour},
		{"one that says of itself what it is", saysAll{}, []error{prescient.ErrTimeout, prescient.ErrPanic, prescient.ErrFinal, other}, 0},
	} {
		got := caught.Quoted(caught.Quoted(test.err, other), other)
		if got.Error() != test.err.Error() || errors.Is(got, plain) {
			t.Errorf("%s: %v", test.name, got)
		}
		want := make(map[error]bool)
		for _, one := range test.is {
			want[one] = true
		}
		for _, one := range []error{prescient.ErrTimeout, prescient.ErrPanic, prescient.ErrFinal, other} {
			if errors.Is(got, one) != want[one] {
				t.Errorf("%s: is %v: %t", test.name, one, errors.Is(got, one))
			}
		}
		if in, stated := prescient.RetryIn(got); in != test.in || stated != (test.in != 0) {
			t.Errorf("%s: to be tried again in %s, %t; want %s", test.name, in, stated, test.in)
		}
	}
	if caught.Quoted(nil) != nil {
		t.Error("no error has become one")
	}
}

// saysAll is every error that it is asked for.
type saysAll struct{}

func (saysAll) Error() string   { return "all" }
func (saysAll) Is(error) bool   { return true }
func (saysAll) As(any) bool     { return false }
func (saysAll) Unwrap() []error { return nil }
