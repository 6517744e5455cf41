package caught_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
)

func TestACallComesBackHoweverItEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func() error
		says []string
	}{
		{"an answer", func() error { return nil }, nil},
		{"a panic, with its stack", func() error { panic("no such order") }, []string{"no such order", "caught_test.go"}},
		{"a panic with nil", func() error { panic(nil) }, []string{"nil"}},
		{"runtime.Goexit", func() error { runtime.Goexit(); return nil }, []string{"it called runtime.Goexit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := <-caught.Go(test.do, func(err error) error { return err })
			if errors.Is(err, prescient.ErrPanic) != (test.says != nil) {
				t.Fatalf("%v", err)
			}
			for _, text := range test.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("no %q in %v", text, err)
				}
			}
		})
	}
}
