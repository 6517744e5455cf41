package store

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"prescient/prescient"
)

// Pauses are the job_execs that are paused.
type Pauses map[string]bool

// All says whether everything is.
func (p Pauses) All() bool { return p[prescient.AllExecs] }

// ReadPauses reads the list that comes with a look at a slot; nil where nothing is paused.
func ReadPauses(list []byte) (Pauses, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var names []string
	if err := json.Unmarshal(list, &names); err != nil || !utf8.Valid(list) {
		return nil, fmt.Errorf("what is paused cannot be read: %.200q: %w", list, err)
	}
	p := make(Pauses, len(names))
	for _, name := range names {
		p[name] = true
	}
	return p, nil
}
