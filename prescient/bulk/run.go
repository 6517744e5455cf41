package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"prescient/prescient/internal/store"
)

// Run is a preview, or the deed that it became. Times are UTC.
type Run struct {
	Number uint64 `json:"number,string"`
	Asked
	Cutoff time.Time `json:"cutoff"`
	Person string    `json:"person"`
	Reason string    `json:"why,omitempty"`
	Host   string    `json:"host,omitempty"`
	// Matched is how many matched at the preview; Exact says whether that was counted.
	Matched uint64 `json:"matched"`
	Exact   bool   `json:"exact"`
	// Until is when the token of the preview ends.
	Until time.Time `json:"until"`
	// StartedAt is when the deed was begun, StoppedAt when somebody stopped it, and EndedAt when it was over.
	StartedAt *time.Time `json:"started_at,omitzero"`
	StoppedAt *time.Time `json:"stopped_at,omitzero"`
	EndedAt   *time.Time `json:"ended_at,omitzero"`
	// Pass is how often all has been looked at, this time included.
	Pass int `json:"pass"`
	// Done is to how many checks it was done. LeftOut is how many others had changed or locked in this pass; Refused how many it cannot be
	// done to: they may not be moved so far, or are pending already, where they were to be requeued.
	Done    uint64 `json:"done"`
	LeftOut uint64 `json:"left_out"`
	Refused uint64 `json:"refused"`
	// Error says why it was given up.
	Error string `json:"error,omitempty"`

	reached string
	bad     error // what is wrong with its row
}

// check notes what is wrong with a row: what Preview would not have kept.
func (r *Run) check() {
	if r.bad == nil {
		r.bad = r.Validate()
	}
	if r.bad == nil && r.StartedAt != nil && r.Cutoff.After(*r.StartedAt) {
		r.bad = errors.New("its cutoff is after its begin")
	}
	r.Pass = max(r.Pass, 1)
}

// kept is what stands in the column of the filter. A process of a version that knows no spread gives a run up that has one.
type kept struct {
	*Filter
	SpreadMS *int64 `json:"spread_ms,omitempty"`
}

func keptOf(a *Asked) kept {
	is := kept{Filter: &a.Filter}
	if a.SpreadMS > 0 {
		is.SpreadMS = &a.SpreadMS
	}
	return is
}

const runColumns = `number, deed, HEX(filter), CAST(due_at AS CHAR), CAST(cutoff AS CHAR), HEX(person), HEX(reason), HEX(host), matched, is_exact <> 0,
  CAST(token_until AS CHAR), CAST(started_at AS CHAR), CAST(stopped_at AS CHAR), CAST(ended_at AS CHAR), pass, reached, done, left_out, refused, HEX(error)`

// into is where the columns of a row go.
func (r *Run) into() []any {
	// A row that no program wrote, or a later one, ends by itself, and is in nobody's way.
	filter := store.Text(func(text string) error {
		var plain []byte
		if err := store.Unhex(&plain).Scan(text); err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(plain))
		decoder.DisallowUnknownFields()
		if r.bad = decoder.Decode(&kept{&r.Filter, &r.SpreadMS}); r.bad == nil && decoder.More() {
			r.bad = errors.New("more stands behind it")
		}
		if r.bad != nil {
			r.bad, r.Asked = fmt.Errorf("the filter cannot be read: %w", r.bad), Asked{Deed: r.Deed, DueAt: r.DueAt}
		}
		return nil
	})
	return []any{&r.Number, &r.Deed, filter, store.AtOrNil(&r.DueAt), store.At(&r.Cutoff), store.Unhex(&r.Person), store.Unhex(&r.Reason), store.Unhex(&r.Host), &r.Matched, &r.Exact,
		store.At(&r.Until), store.AtOrNil(&r.StartedAt), store.AtOrNil(&r.StoppedAt), store.AtOrNil(&r.EndedAt), &r.Pass, &r.reached, &r.Done, &r.LeftOut, &r.Refused, store.Unhex(&r.Error)}
}

// Cursor names its place in a list.
func (r Run) Cursor() string { return strconv.FormatUint(r.Number, 10) }

// State is how far it is, in a word.
func (r Run) State() string {
	switch {
	case r.Error != "":
		return "given up"
	case r.StoppedAt != nil && (r.EndedAt != nil || r.StartedAt == nil):
		return "stopped"
	case r.StoppedAt != nil:
		return "stopping"
	case r.EndedAt != nil:
		return "done"
	case r.StartedAt != nil:
		return "under way"
	}
	return "preview"
}
