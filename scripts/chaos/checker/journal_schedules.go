package checker

import "time"

// Change is what an app did to a schedule, in a transaction.
type Change struct {
	Do         string      // create, update, pause, resume, delete
	Definition *Definition `json:",omitempty"` // from then on: of create and update
	Version    uint64      // from then on
	PassedBy   int         // how many occurrences an update has passed over itself
	PassedOver int         // by then, after a pause: how often its timer had passed over occurrences
	CreatedAt  time.Time   `json:",omitzero"`
	UpdatedAt  time.Time   `json:",omitzero"` // when the change was written, after what it ended and inserted; of a pause until when it has fired
	First      time.Time   `json:",omitzero"` // what its timer waits for from then on; zero without a timer
}

// Definition is what a schedule is to do.
type Definition struct {
	Crontabs []string
	Zone     string
	Jitter   time.Duration
	Topic    string // it sends events, or else runs a job_exec
	CatchUp  string // once, skip, all
	Within   time.Duration
	Payload  string
	// Of long runs: Overlap is empty for forbid, Tolerance and Quota are 0 for their defaults, and a Quota below 0 is none.
	Overlap          string        `json:",omitempty"`
	Tolerance, Quota time.Duration `json:",omitempty"`
}
