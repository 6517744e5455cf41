package checks

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/input"
	"prescient/prescient"
)

// The formats of a file of checks.
const (
	FormatJSONL = "jsonl"
	FormatCSV   = "csv"
)

// record is a check as it stands in a file: a line of JSON, or a row of CSV under these headings.
type record struct {
	Entity     string          `json:"entity"`
	EntityName string          `json:"entity_name"`
	EntityKey  string          `json:"entity_key"`
	JobExec    string          `json:"job_exec"`
	Tag        string          `json:"tag"`
	DueAt      string          `json:"due_at"`
	In         string          `json:"in"`
	Spread     string          `json:"spread"`
	Expires    string          `json:"expires"`
	Payload    json.RawMessage `json:"payload"`
	OnPending  string          `json:"on_pending"`
}

// recordColumns are the headings that a CSV may have.
var recordColumns = []string{"entity", "entity_name", "entity_key", "job_exec", "tag", "due_at", "in", "spread", "expires", "payload", "on_pending"}

func (r *record) set(column, text string) {
	switch column {
	case "entity":
		r.Entity = text
	case "entity_name":
		r.EntityName = text
	case "entity_key":
		r.EntityKey = text
	case "job_exec":
		r.JobExec = text
	case "tag":
		r.Tag = text
	case "due_at":
		r.DueAt = text
	case "in":
		r.In = text
	case "spread":
		r.Spread = text
	case "expires":
		r.Expires = text
	case "payload":
		if text != "" {
			r.Payload = json.RawMessage(text)
		}
	case "on_pending":
		r.OnPending = text
	}
}

// job makes the check, with what the flags say where the record says nothing.
func (r *record) job(f insertFlags, now time.Time) (job prescient.NewJob, err error) {
	switch {
	case r.Entity != "" && (r.EntityName != "" || r.EntityKey != ""):
		return job, errors.New("entity excludes entity_name and entity_key")
	case r.Entity != "":
		job.Entity, err = prescient.ParseEntity(r.Entity)
	case r.EntityName == "" && r.EntityKey == "":
		err = errors.New("it has no entity")
	default:
		job.Entity = prescient.Entity{Name: r.EntityName, Key: r.EntityKey}
	}
	if err != nil {
		return job, err
	}
	job.JobExec, job.Tag = cmp.Or(r.JobExec, f.exec), cmp.Or(r.Tag, f.tag)
	if job.JobExec == "" {
		return job, errors.New("it has no job_exec, and there is no --exec")
	}
	due := arguments.When{At: r.DueAt, In: r.In}
	switch {
	case r.DueAt != "" && r.In != "":
		return job, errors.New("due_at and in exclude each other")
	case r.DueAt == "" && r.In == "" && f.when == (arguments.When{}):
		return job, errors.New("it has neither due_at nor in, and there is no --at and no --in")
	case r.DueAt == "" && r.In == "":
		due = f.when
	}
	if job.DueAt, err = due.Resolve(now); err != nil {
		return job, plainFlag(err)
	}
	if job.Spread, err = parseSpread(cmp.Or(r.Spread, f.spread)); err != nil {
		return job, plainFlag(err)
	}
	if job.ExpiresAfter, err = parseExpires(cmp.Or(r.Expires, f.expires)); err != nil {
		return job, plainFlag(err)
	}
	if job.OnPending, err = prescient.ParseOnPending(cmp.Or(r.OnPending, f.onPending)); err != nil {
		return job, err
	}
	if string(r.Payload) != "null" {
		job.Payload = r.Payload
	}
	return job, job.Validate()
}

// plainFlag names a flag's error by the column.
func plainFlag(err error) error {
	text := strings.TrimPrefix(err.Error(), "--")
	if rest, is := strings.CutPrefix(text, "at: "); is {
		text = "due_at: " + rest
	}
	return errors.New(text)
}

// records reads a file of checks, one at a time. After a bad one it goes on with the next.
type records interface {
	// next returns the line that a record begins in, counted from 1, and the record, or what is wrong with it; io.EOF
	// after the last. Any other error of reading is a *readError.
	next() (line int, r record, err error)
}

// readError is a file that cannot be read on.
type readError struct{ error }

func newRecords(from io.Reader, format string) (records, error) {
	buffered := bufio.NewReaderSize(from, 64<<10)
	if err := input.Text(buffered); err != nil {
		return nil, err
	}
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = buffered.Discard(3) // of what was just seen
	}
	if format == FormatCSV {
		return newCSVRecords(buffered)
	}
	return &jsonRecords{from: &input.Lines{From: buffered, Longest: longestLine}}, nil
}

// longestLine is the longest line of JSON that is read.
const longestLine = prescient.MaxPayload + 64<<10

type jsonRecords struct {
	from *input.Lines
	line int
}

func (j *jsonRecords) next() (int, record, error) {
	for {
		text, tooLong, err := j.from.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			err = &readError{err}
		}
		if err != nil {
			return j.line, record{}, err
		}
		j.line++
		if tooLong {
			return j.line, record{}, fmt.Errorf("it is longer than %d bytes", longestLine)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			r, err := parseRecord(text)
			if err != nil && input.LoneCR(text) {
				err = input.ErrCR
			}
			return j.line, r, err
		}
	}
}

func parseRecord(text []byte) (r record, err error) {
	if !utf8.Valid(text) {
		return r, errors.New("it is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, fmt.Errorf("it is no JSON object of a check: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("something stands behind the JSON object")
	}
	return r, nil
}

type csvRecords struct {
	from    *csv.Reader
	bounded *boundedReader
	columns []string
}

// boundedReader fails where a record does not end: a quote that is never closed would have the rest of the file in it.
type boundedReader struct {
	io.Reader
	read int // since the last record
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.read > longestLine {
		return 0, fmt.Errorf("a record is longer than %d bytes; is a quote not closed?", longestLine)
	}
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

func newCSVRecords(from *bufio.Reader) (records, error) {
	begins, _ := from.Peek(from.Size()) // what is less than that comes with an error
	if err := parted(begins); err != nil {
		return nil, err
	}
	bounded := &boundedReader{Reader: from}
	c := &csvRecords{from: csv.NewReader(bounded), bounded: bounded}
	c.from.ReuseRecord = true
	header, err := c.from.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty; want a first line with the names of the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("the names of the columns: %w", err)
	}
	for _, name := range header {
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(recordColumns, name) {
			return nil, fmt.Errorf("unknown column %.80q; %s are allowed", name, strings.Join(recordColumns, ", "))
		}
		if slices.Contains(c.columns, name) {
			return nil, fmt.Errorf("the column %s is there twice", name)
		}
		c.columns = append(c.columns, name)
	}
	return c, nil
}

// parted refuses a file whose columns are not parted by commas, or that says by what they are, as spreadsheets write them.
func parted(begins []byte) error {
	line, _, _ := strings.Cut(string(begins), "\n")
	if by, is := strings.CutPrefix(strings.ToLower(strings.Trim(line, "\" \r\t")), "sep="); is {
		with := ""
		if by != "," {
			with = ", and part the columns with commas"
		}
		return fmt.Errorf("its first line is %.20q, which only spreadsheets read: take it away%s", strings.TrimRight(line, "\r"), with)
	}
	if by := partedBy(line); by != "" {
		return fmt.Errorf("its columns are parted by %s; want commas: save it as CSV with those", by)
	}
	return nil
}

// partedBy names what parts the columns of a line in place of commas.
func partedBy(line string) string {
	for _, of := range []struct{ sign, name string }{{";", "semicolons"}, {"|", "bars"}, {"\t", "tabs"}} {
		if strings.Contains(strings.TrimSpace(line), of.sign) && !strings.Contains(line, ",") {
			return of.name
		}
	}
	return ""
}

func (c *csvRecords) next() (int, record, error) {
	c.bounded.read = 0
	fields, err := c.from.Read()
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return 0, record{}, io.EOF
	case c.hasCR(fields):
		line, _ := c.from.FieldPos(0)
		return line, record{}, input.ErrCR
	case errors.As(err, &wrong) && errors.Is(err, csv.ErrFieldCount) && len(fields) == 1 && partedBy(fields[0]) != "":
		return wrong.StartLine, record{}, fmt.Errorf("its columns are parted by %s; want commas", partedBy(fields[0]))
	case errors.As(err, &wrong) && errors.Is(err, csv.ErrFieldCount):
		return wrong.StartLine, record{}, fmt.Errorf("it has %d fields, want %d", len(fields), len(c.columns))
	case errors.As(err, &wrong):
		return wrong.StartLine, record{}, wrong.Err
	case err != nil:
		return 0, record{}, &readError{err}
	}
	line, _ := c.from.FieldPos(0)
	var r record
	for i, text := range fields {
		r.set(c.columns[i], text)
	}
	return line, r, nil
}

// hasCR says whether a CR stands where none may: in a payload it is a blank of JSON, in all else it was to end a line. A key that has one
// can be given as JSON.
func (c *csvRecords) hasCR(fields []string) bool {
	for i, text := range fields {
		if strings.Contains(text, "\r") && (len(fields) != len(c.columns) || c.columns[i] != "payload") {
			return true
		}
	}
	return false
}
