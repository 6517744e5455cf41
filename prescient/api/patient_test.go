package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/ops/stream"
)

// rowsOf are chunks of an export.
func rowsOf(chunks ...[]int) func(context.Context) ([]int, error) {
	return func(ctx context.Context) ([]int, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(chunks) == 0 {
			return nil, io.EOF
		}
		chunk := chunks[0]
		chunks = chunks[1:]
		return chunk, nil
	}
}

func TestAnExportEndsWhereItsTokenDoes(t *testing.T) {
	now := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	role, err := ops.Viewer, error(nil)
	authenticate := func(*http.Request) (ops.Caller, error) { return ops.Caller{Token: 7, Role: role}, err }
	still := stream.Every(lookAgain, func() time.Time { return now }, func() error { return stillIs(authenticate, nil, ops.Caller{Token: 7, Role: ops.Viewer}) })
	for _, test := range []struct {
		what string
		role ops.Role
		err  error
		then bool
	}{
		{"it is good", ops.Viewer, nil, true},
		{"it cannot be looked up", ops.Viewer, io.ErrUnexpectedEOF, true},
		{"it was revoked", ops.Viewer, ops.ErrUnauthorized, false},
		{"it has another role", ops.Admin, nil, false},
	} {
		role, err = test.role, test.err
		if still() != nil {
			t.Errorf("%s: it is looked at too often", test.what)
		}
		now = now.Add(lookAgain)
		to := httptest.NewRecorder()
		got := stream.Write(t.Context(), to, stream.Export[int]{ID: "x", As: ops.JSONLines, Next: rowsOf([]int{1}, []int{2}), Still: still, Problem: lastLine})
		if whole := got == nil && to.Body.String() == "1\n2\n"; whole != test.then || (to.Result().Trailer.Get("Prescient-Rows") == "2") != test.then {
			t.Errorf("%s: %v, %q, %v", test.what, got, to.Body, to.Result().Trailer)
		}
		if !test.then && !strings.Contains(to.Body.String(), `{"problem":{"type":"urn:prescient:error:ErrUnauthorized"`) {
			t.Errorf("%s: %q", test.what, to.Body)
		}
	}
}

func TestWhatPanickedInTheMiddleIsNoWholeAnswer(t *testing.T) {
	for _, begins := range []bool{false, true} {
		server := httptest.NewServer(guard(Options{Authenticate: func(*http.Request) (ops.Caller, error) { return ops.Caller{}, nil }}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if begins {
				_, _ = io.WriteString(w, "some of it")
			}
			panic("x")
		})))
		resp, err := server.Client().Get(server.URL)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if begins != (err != nil) || !begins && resp.StatusCode != http.StatusInternalServerError {
			t.Errorf("begun %v: %v, %v", begins, resp, err)
		}
		server.Close()
	}
}

// As many tokens are looked up at a time as requests are done; who comes then waits a second.
func TestManyAtTheDoorAreToldThatItIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		doors, o := make(chan struct{}, 1), Options{Authenticate: func(*http.Request) (ops.Caller, error) {
			time.Sleep(3 * time.Second)
			return ops.Caller{Token: 1}, nil
		}}
		first := make(chan error)
		go func() {
			_, err := authenticate(o, doors, nil)
			first <- err
		}()
		synctest.Wait()
		began := time.Now()
		if _, err := authenticate(o, doors, nil); !errors.Is(err, errBusy) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		if _, err := authenticate(o, doors, nil); err != nil {
			t.Errorf("the place is not free again: %v", err)
		}
	})
}
