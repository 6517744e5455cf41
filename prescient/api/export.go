package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prescient/prescient/ops"
)

const (
	// exportsAtATime is how many exports are under way, and exportsEach how many of a caller; more are answered 503 and 429.
	exportsAtATime = 4
	exportsEach    = 2
	// exportPart is how much is written at a time, and partWithin how long a reader may take for it.
	exportPart = 64 << 10
	partWithin = 30 * time.Second
	// exportWithin is how long all of an export may take; then it is cut off. The last row has the cursor to go on from.
	exportWithin = time.Hour
	// lookAgain is how often it is looked whether the caller is still let in.
	lookAgain = 10 * time.Second
	// rowsTrailer is the trailer of an export that is whole.
	rowsTrailer = "Prescient-Rows"
)

const exportText = `The answer is a stream, which is read as it is taken: each row is as it was when its part was read. A reader that takes nothing for 30 seconds is cut off.
What is whole ends with the trailer Prescient-Rows, the number of its rows. What cannot be read to its end breaks off without the end of its body, which clients
take for an error; JSON lines have a last line {"problem": …} before that. In CSV an apostrophe stands before what a spreadsheet may take for a formula.`

// exportAsked is what is asked of an export.
type exportAsked interface{ As() ops.Format }

// export registers an operation that streams rows.
func export[In exportAsked, Row interface{ Cursor() string }](a *server, op ops.Export[In, Row]) {
	o := operation(op.Info, http.MethodGet)
	o.Description += " " + exportText
	o.Responses = map[string]*huma.Response{"200": {Description: "The rows.", Content: map[string]*huma.MediaType{
		"application/jsonl": {Schema: a.api.OpenAPI().Components.Schemas.Schema(rowType[Row](), true, "")}, "text/csv": {Schema: &huma.Schema{Type: "string"}}}}}
	huma.Register(a.api, o, func(ctx context.Context, in *In) (*huma.StreamResponse, error) {
		by := callerOf(ctx)
		leave, own := a.exports.take(by)
		switch {
		case own:
			return nil, problem{Type: blank, Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: "this caller has as many exports under way as it may", retryAfter: time.Minute}
		case leave == nil:
			return nil, problem{Type: blank, Title: "Busy", Status: http.StatusServiceUnavailable, Detail: "as many exports as are done at a time are under way", retryAfter: time.Minute}
		}
		chunks, err := ops.Begin(ctx, op, a.o.Ops, by, *in)
		if err != nil {
			leave()
			_, err = answered(a, op.Info, struct{}{}, err)
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			defer leave()
			r, w := humago.Unwrap(c)
			still := every(lookAgain, time.Now, func() error { return stillIs(a.o.Authenticate, r, by) })
			if err := stream(ctx, w, op.ID, (*in).As(), chunks.Next, still); err != nil {
				a.o.Log.Warn().Err(err).Str("operation", op.ID).Msg("an export was cut off")
				panic(http.ErrAbortHandler) // the body has no end then
			}
		}}, nil
	})
}

// every calls look where it was not called for so long, and returns what it says.
func every(often time.Duration, now func() time.Time, look func() error) func() error {
	last := now()
	return func() error {
		if now().Sub(last) < often {
			return nil
		}
		last = now()
		return look()
	}
}

// stillIs fails where who sent a request is not let in any more, or is another by now. What cannot be looked up goes on.
func stillIs(authenticate func(*http.Request) (ops.Caller, error), r *http.Request, by ops.Caller) error {
	is, err := authenticate(r)
	switch {
	case errors.Is(err, ops.ErrUnauthorized), errors.Is(err, ops.ErrForbidden):
		return err
	case err == nil && (whoIs(is) != whoIs(by) || is.Role != by.Role):
		return fmt.Errorf("%w: the caller is another by now", ops.ErrUnauthorized)
	}
	return nil
}

// patient is a writer whose reader has some time for each part, as long as the reader may have it.
type patient struct {
	http.ResponseWriter
	still func() error
}

func (p patient) Write(b []byte) (int, error) {
	if err := p.still(); err != nil {
		return 0, err
	}
	rc := http.NewResponseController(p.ResponseWriter)
	_ = rc.SetWriteDeadline(time.Now().Add(partWithin)) // where the server lets it
	n, err := p.ResponseWriter.Write(b)
	_ = rc.SetWriteDeadline(time.Now().Add(answerWithin)) // until the next part: over HTTP/2 a deadline that passes ends the stream
	return n, err
}

// stream writes chunks until there are no more, or nobody takes them.
func stream[Row any](ctx context.Context, w http.ResponseWriter, id string, as ops.Format, next func(context.Context) ([]Row, error), still func() error) error {
	out := bufio.NewWriterSize(patient{w, still}, exportPart)
	kind, rows := "application/jsonl", rowWriter[Row](&jsonLines[Row]{json.NewEncoder(out)})
	if as == ops.CSV {
		kind, rows = "text/csv; charset=utf-8; header=present", newCSVLines[Row](out)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+id+"."+string(as)+`"`)
	w.Header().Set("Trailer", rowsTrailer)
	ctx, cancel := context.WithTimeout(ctx, exportWithin)
	defer cancel()
	n := 0
	for {
		chunk, err := next(ctx)
		if lost := still(); lost != nil { // also where nothing is found for long
			chunk, err = nil, lost
		}
		for i := range chunk {
			if err := rows.write(&chunk[i]); err != nil {
				return err
			}
		}
		n += len(chunk)
		switch {
		case errors.Is(err, io.EOF):
			if err := errors.Join(rows.end(nil), out.Flush()); err != nil {
				return err
			}
			w.Header().Set(rowsTrailer, strconv.Itoa(n))
			return nil
		case err != nil:
			p := problemOf(err)
			return errors.Join(err, rows.end(&p), out.Flush(), http.NewResponseController(w).Flush())
		}
	}
}

// rowWriter writes rows of a format, and at the end a problem, if there is one and the format has a place for it.
type rowWriter[Row any] interface {
	write(row *Row) error
	end(p *problem) error
}

// jsonLines writes a line of JSON a row.
type jsonLines[Row any] struct{ *json.Encoder }

func (j *jsonLines[Row]) write(row *Row) error { return j.Encode(row) }

func (j *jsonLines[Row]) end(p *problem) error {
	if p == nil {
		return nil
	}
	return j.Encode(map[string]*problem{"problem": p})
}
