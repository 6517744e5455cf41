package program

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"prescient/cmd/internal/exit"
	"prescient/prescient"
)

func TestWhatTheErrorsOfShardsComeTo(t *testing.T) {
	said := func(code int) error {
		return fmt.Errorf("shard -80: %w", &exit.Error{Code: code, Err: errors.New("said"), Printed: true})
	}
	away := &exit.Error{Code: exit.CodeDatabase, Err: errors.New("away")}
	none := fmt.Errorf("none: %w", prescient.ErrNotFound)
	for _, test := range []struct {
		errs []error
		code int
		says string // on stderr
	}{
		{nil, exit.CodeOK, ""},
		{[]error{said(exit.CodeBad), said(exit.CodeWarn)}, exit.CodeBad, ""},
		{[]error{said(exit.CodeBad), away}, exit.CodeDatabase, "away"},
		{[]error{none, none}, exit.CodeNotFound, "none: not pending\nnone: not pending"},
		{[]error{none, away}, exit.CodeFailure, "none: not pending\naway"},
		{[]error{away, none, none}, exit.CodeFailure, "away\nnone: not pending\nnone: not pending"},
		{[]error{none, context.Canceled}, exit.CodeInterrupted, "none: not pending\ncontext canceled"},
		{[]error{context.Canceled, none}, exit.CodeInterrupted, "context canceled\nnone: not pending"},
	} {
		err := together(test.errs)
		says := ""
		if err != nil && !exit.Printed(err) {
			says = err.Error()
		}
		if code := exit.Code(err); code != test.code || says != test.says {
			t.Errorf("%v: %d, %q; want %d, %q", test.errs, code, says, test.code, test.says)
		}
	}
}
