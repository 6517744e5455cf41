package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/ops/stream"
)

// Download is an export to a file: of all that a filter matches, and not of what a page shows.
type Download struct {
	// Path below the base.
	Path  string
	begin func(ctx context.Context, a Asked, still func() error) (func(w http.ResponseWriter) error, error)
	info  ops.Info
}

// NewDownload makes a download of an export; asked reads what a request asks for.
func NewDownload[In ops.Formatted, Row interface{ Cursor() string }](path string, e ops.Export[In, Row], asked func(a Asked) In) Download {
	return Download{Path: path, info: e.Info, begin: func(ctx context.Context, a Asked, still func() error) (func(w http.ResponseWriter) error, error) {
		in := asked(a)
		if err := a.Err(); err != nil {
			return nil, err
		}
		chunks, err := ops.Begin(ctx, e, a.Ops, a.By, in)
		return func(w http.ResponseWriter) error {
			return stream.Write(ctx, w, stream.Export[Row]{ID: e.ID, As: in.As(), Next: chunks.Next, Still: still, Problem: func(err error) any { return map[string]string{"problem": kindOf(err).Detail} }})
		}, err
	}}
}

const (
	// downloadsAtATime is how many downloads are under way; one user has half of them at most.
	downloadsAtATime = 4
	// stillEvery is how often it is looked whether who downloads is still let in.
	stillEvery = 10 * time.Second
)

// stillIs fails where who sent a request is not let in any more, or is another by now. What cannot be looked up goes on.
func (f *Front) stillIs(r *http.Request, by User) error {
	is, err := f.o.Who(r)
	switch {
	case errors.Is(err, ErrNobody):
		return err
	case err == nil && is != by:
		return fmt.Errorf("%w: the user is another by now", ErrNobody)
	}
	return nil
}

// download serves a download.
func (f *Front) download(d Download) func(w http.ResponseWriter, r *http.Request, by User) error {
	return func(w http.ResponseWriter, r *http.Request, by User) error {
		caller := ops.Caller{Name: by.Name, Role: by.Role, Host: f.Address(r)}
		if err := d.info.Allow(caller); err != nil {
			return err
		}
		if r.Method == http.MethodHead { // it would do all the work for no reader
			w.Header().Set("Allow", http.MethodGet)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return nil
		}
		leave, err := f.downloads.take(r.Context(), by.Name)
		if err != nil {
			return err
		}
		defer leave()
		write, err := d.begin(r.Context(), Asked{Ops: f.ops, By: caller, Query: NewQuery(r.URL.Query()), Now: f.o.Now()},
			stream.Every(stillEvery, time.Now, func() error { return f.stillIs(r, by) }))
		f.away.note(err)
		if err != nil {
			return err
		}
		if err := write(w); err != nil {
			f.o.Log.Warn().Err(err).Str("path", d.Path).Msg("a download was cut off")
			panic(http.ErrAbortHandler) // the body has no end then, and nobody takes it for whole
		}
		return nil
	}
}
