package known

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"prescient/prescient"
)

// Exec is a job_exec as exec_known has it.
type Exec struct {
	Name        string
	Form        string // of its handler
	Guards      string // JSON
	Fingerprint string // 8 bytes
}

// guards are those of a job_exec, defaults filled in; durations in milliseconds.
type guards struct {
	Timeout      int64 `json:"timeout_ms"`
	MaxChecks    int   `json:"max_checks"`
	MaxErrors    int   `json:"max_errors"`
	RetryWithin  int64 `json:"retry_within_ms"`
	Horizon      int64 `json:"horizon_ms"`
	ExpiresAfter int64 `json:"expires_after_ms"`
	Endless      bool  `json:"endless"`
	Concurrency  int   `json:"concurrency"`
	SLA          int64 `json:"sla_ms"`
	Long         *long `json:"long,omitempty"`
}

// long is what long runs have beside guards, which are theirs; but for the concurrency, which is that of their starts.
type long struct {
	Lease int64  `json:"lease_ms"`
	Pool  string `json:"pool"`
}

// Of returns the job_execs of a registry, for a worker with some guards.
func Of(registry *prescient.Registry, worker prescient.Guards) []Exec {
	var list []Exec
	for _, name := range registry.Names() {
		list = append(list, newExec(name, formOf(registry.Handler(name)), registry.GuardsOf(name, worker.Or(prescient.DefaultGuards())), registry.LongOf(name)))
	}
	return list
}

func newExec(name, form string, g prescient.Guards, runs *prescient.Long) Exec {
	var more *long
	if runs != nil {
		starts := g.Concurrency
		g, more = runs.Guards, &long{runs.Lease.Milliseconds(), runs.Pool}
		g.Concurrency = starts
	}
	text, err := json.Marshal(guards{Timeout: g.Timeout.Milliseconds(), MaxChecks: g.MaxChecks, MaxErrors: g.MaxErrors, RetryWithin: g.RetryWithin.Milliseconds(), Horizon: g.Horizon.Milliseconds(),
		ExpiresAfter: g.ExpiresAfter.Milliseconds(), Endless: g.Endless, Concurrency: g.Concurrency, SLA: g.SLA.Milliseconds(), Long: more})
	if err != nil {
		panic(fmt.Sprintf("guards that are no JSON: %v", err)) // numbers always are
	}
	sum := sha256.Sum256(append([]byte(form+"\x00"), text...))
	return Exec{Name: name, Form: form, Guards: string(text), Fingerprint: string(sum[:8])}
}

func formOf(h prescient.Handler) string {
	switch h.(type) {
	case prescient.BatchFunc:
		return "batch"
	case prescient.TxFunc:
		return "tx"
	case prescient.TxBatchFunc:
		return "tx_batch"
	}
	return "func"
}
