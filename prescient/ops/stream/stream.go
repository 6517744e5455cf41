package stream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"prescient/prescient/ops"
)

const (
	// AnswerWithin is how long a reader may take for an answer, with what the operation takes, which is a minute at most.
	AnswerWithin = 2 * time.Minute
	// exportPart is how much is written at a time, and partWithin how long a reader may take for it.
	exportPart = 64 << 10
	partWithin = 30 * time.Second
	// exportWithin is how long all of an export may take; then it is cut off. The last row has the cursor to go on from.
	exportWithin = time.Hour
	// rowsTrailer is the trailer of an export that is whole.
	rowsTrailer = "Prescient-Rows"
)

// Export is what is written.
type Export[Row any] struct {
	// ID and As name the file.
	ID string
	As ops.Format
	// Next returns the next rows, as Chunks do.
	Next func(context.Context) ([]Row, error)
	// Still fails where the reader may not have more; it is called often.
	Still func() error
	// Problem makes the last line of JSON lines of an error.
	Problem func(error) any
}

// Every calls look where it was not called for so long, and returns what it says.
func Every(often time.Duration, now func() time.Time, look func() error) func() error {
	last := now()
	return func() error {
		if now().Sub(last) < often {
			return nil
		}
		last = now()
		return look()
	}
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
	_ = rc.SetWriteDeadline(time.Now().Add(AnswerWithin)) // until the next part: over HTTP/2 a deadline that passes ends the stream
	return n, err
}

// Write writes rows until there are no more, or nobody takes them. After an error the answer is to be cut off, as its reader would take it for whole.
func Write[Row any](ctx context.Context, w http.ResponseWriter, e Export[Row]) error {
	out := bufio.NewWriterSize(patient{w, e.Still}, exportPart)
	kind, rows := "application/jsonl", rowWriter[Row](&jsonLines[Row]{json.NewEncoder(out)})
	if e.As == ops.CSV {
		kind, rows = "text/csv; charset=utf-8; header=present", newCSVLines[Row](out)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+e.ID+"."+string(e.As)+`"`)
	w.Header().Set("Trailer", rowsTrailer)
	ctx, cancel := context.WithTimeout(ctx, exportWithin)
	defer cancel()
	n := 0
	for {
		chunk, err := e.Next(ctx)
		if lost := e.Still(); lost != nil { // also where nothing is found for long
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
			return errors.Join(err, rows.end(e.Problem(err)), out.Flush(), http.NewResponseController(w).Flush())
		}
	}
}

// rowWriter writes rows of a format, and at the end a problem, if there is one and the format has a place for it.
type rowWriter[Row any] interface {
	write(row *Row) error
	end(problem any) error
}

// jsonLines writes a line of JSON a row.
type jsonLines[Row any] struct{ *json.Encoder }

func (j *jsonLines[Row]) write(row *Row) error { return j.Encode(row) }

func (j *jsonLines[Row]) end(problem any) error {
	if problem == nil {
		return nil
	}
	return j.Encode(problem)
}
