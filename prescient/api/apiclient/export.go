package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
)

// Rows are those of an export as JSON lines, as they come:
//
//	resp, err := c.ChecksExportEnded(ctx, apiclient.ChecksExportEndedParams{JobExec: "ship"})
//	for row, err := range apiclient.Rows[apiclient.Ended](resp) { … }
//
// An error is the last there is: an [Error] where the API gave up. An export without one is whole. The answer is closed at the end, also after a break.
func Rows[T any](resp *http.Response) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer resp.Body.Close()
		var none T
		lines := json.NewDecoder(resp.Body)
		for n := 0; ; n++ {
			var line json.RawMessage
			err := lines.Decode(&line)
			if errors.Is(err, io.EOF) {
				if err := whole(resp, n); err != nil {
					yield(none, err)
				}
				return
			}
			var row T
			if err == nil {
				row, err = rowOf[T](line)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func rowOf[T any](line []byte) (row T, err error) {
	if !bytes.HasPrefix(line, []byte(`{"problem":`)) {
		return row, json.Unmarshal(line, &row)
	}
	var last struct{ Problem Problem }
	if err := json.Unmarshal(line, &last); err != nil {
		return row, err
	}
	return row, &Error{Problem: last.Problem}
}

// whole looks at the number of rows behind an export. A proxy may have left that out, but does not end the body of what broke off.
func whole(resp *http.Response, rows int) error {
	if told := resp.Trailer.Get("Prescient-Rows"); told != "" && told != strconv.Itoa(rows) {
		return fmt.Errorf("the export has %d rows, and not %s: %w", rows, told, io.ErrUnexpectedEOF)
	}
	return nil
}
