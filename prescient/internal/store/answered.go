package store

import (
	"context"
	"slices"
	"strconv"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
)

// What a vttablet passes on is bounded in two ways. By --queryserver-config-max-result-size it refuses an answer of more rows than mostRows, and a change of
// more by one statement that has no LIMIT; and no program of Vitess takes a message of more than 16 MB.
const mostRows = 10_000

// InOne is how many of so many rows the server may be asked for by one statement.
func (t *Tables) InOne(rows int) int {
	if t.Server.Placed() {
		return min(rows, mostRows)
	}
	return rows
}

// EachOf is EachRow for up to so many rows of a query that ends in LIMIT ?: where the server may not be asked for as many, one part of them after the
// other. It is for what nobody changes meanwhile.
func (t *Tables) EachOf(ctx context.Context, db prescient.DB, most int, do func(scan Scan) error, query string, args ...any) error {
	part := t.InOne(most)
	for behind := 0; behind < most; behind += part {
		rows, from := 0, ""
		if behind > 0 {
			from = " OFFSET " + strconv.Itoa(behind)
		}
		err := EachRow(ctx, db, func(scan Scan) error {
			rows++
			return do(scan)
		}, query+from, append(slices.Clip(args), min(part, most-behind))...)
		if err != nil || rows < part {
			return err
		}
	}
	return nil
}

// Answered asks for rows with payloads until an answer comes, and says for how many. An answer is of text, which may be six times as long as what is
// stored: where it is too large for Vitess, it asks for fewer and fewer, and for one alone without its payload.
func Answered(limit int, ask func(rows, longest int) error) (rows int, err error) {
	longest := prescient.MaxRead
	for rows = limit; ; rows = max(rows/4, 1) {
		err = ask(rows, longest)
		switch {
		case longest == 0 || !errno.Is(err, errno.AnswerTooLarge):
			return rows, err
		case rows == 1:
			longest = 0
		}
	}
}
