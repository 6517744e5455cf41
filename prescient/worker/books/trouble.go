package books

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"prescient/prescient"
)

// TroubleKind says what went wrong with rows of a job_exec.
type TroubleKind string

// The kinds beside the outcomes other than done, which a Trouble may have too.
const (
	// TroubleError: the job_exec answered with an error.
	TroubleError TroubleKind = "error"
	// TroubleTimeout: it did not answer within its timeout.
	TroubleTimeout TroubleKind = "timeout"
	// TroublePanic: it panicked, or called runtime.Goexit.
	TroublePanic TroubleKind = "panic"
	// TroubleUnregistered: the worker has no such job_exec, which is often a misspelt one. It was not called.
	TroubleUnregistered TroubleKind = "unregistered"
	// TroublePutOff: too many of its calls ignored their timeout and still run. It was not called.
	TroublePutOff TroubleKind = "put_off"
)

// OtherExecs stands for the job_execs beyond those that a list names one by one. No job_exec can be called that.
const OtherExecs = "(other)"

// Trouble is what went wrong in one way with rows of one job_exec in a slot run.
type Trouble struct {
	// JobExec is a name; OtherExecs where too many have the same trouble.
	JobExec string `json:"job_exec"`
	// Kind is one of the Trouble constants. Where the answer was no error, and yet the check ended unsettled, it is the
	// outcome: max_checks, past_return, beyond_horizon or crashed.
	Kind TroubleKind `json:"kind"`
	// Rows is how many there were, and Ended how many of these ended with it; the others are tried again.
	Rows  int `json:"rows"`
	Ended int `json:"ended"`
	// Entity of one of them, as name/key, and what its error said: the first line, of 300 characters at
	// most.
	Entity string `json:"entity"`
	Error  string `json:"error"`
}

const (
	// MaxTroubled is how many job_execs are named for each kind of trouble in a slot run.
	MaxTroubled = 10
	// MaxTroubleText is how many characters of an error a sample has.
	MaxTroubleText = 300
)

// Troubles are a few for each kind, and one more for the rest of the kind: bounded, however many names the rows have.
type Troubles []Trouble

// Note takes note of a check with a trouble, and what became of it; an empty kind is none.
func (t *Troubles) Note(job prescient.FutureJob, kind TroubleKind, v prescient.Verdict) {
	if kind == "" {
		return
	}
	ended := 0
	if v.Outcome != "" {
		ended = 1
	}
	at := t.place(job.JobExec, kind)
	if at.Rows == 0 {
		at.Entity, at.Error = job.Entity().String(), shortened(v.Reason)
	}
	at.Rows++
	at.Ended += ended
}

// Add adds those of another part of the same slot run.
func (t *Troubles) Add(others Troubles) {
	for _, other := range others {
		at := t.place(other.JobExec, other.Kind)
		if at.Rows == 0 {
			at.Entity, at.Error = other.Entity, other.Error
		}
		at.Rows += other.Rows
		at.Ended += other.Ended
	}
}

// place returns the entry that has a job_exec's trouble: a new one, or that of OtherExecs where there are too many.
func (t *Troubles) place(jobExec string, kind TroubleKind) *Trouble {
	alike := 0
	for i := range *t {
		switch at := &(*t)[i]; {
		case at.Kind != kind:
		case at.JobExec == jobExec:
			return at
		case at.JobExec != OtherExecs:
			alike++
		}
	}
	if alike >= MaxTroubled && jobExec != OtherExecs {
		return t.place(OtherExecs, kind)
	}
	*t = append(*t, Trouble{JobExec: jobExec, Kind: kind})
	return &(*t)[len(*t)-1]
}

// Rows is how many rows had a kind of trouble.
func (t Troubles) Rows(kind TroubleKind) (n int) {
	for _, one := range t {
		if one.Kind == kind {
			n += one.Rows
		}
	}
	return n
}

// Sorted returns them by job_exec and kind.
func (t Troubles) Sorted() Troubles {
	return slices.SortedFunc(slices.Values(t), func(x, y Trouble) int {
		return cmp.Or(strings.Compare(x.JobExec, y.JobExec), strings.Compare(string(x.Kind), string(y.Kind)))
	})
}

// shortened is the first line of a text, of MaxTroubleText characters at most: behind that of a panic comes its stack.
func shortened(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += "…"
	}
	return prescient.Shorten(line, MaxTroubleText)
}

// MarshalZerologObject writes a trouble with the names that it has in JSON.
func (t Trouble) MarshalZerologObject(e *zerolog.Event) {
	e.Str("job_exec", t.JobExec).Str("kind", string(t.Kind)).Int("rows", t.Rows).Int("ended", t.Ended).
		Str("entity", t.Entity).Str("error", t.Error)
}
