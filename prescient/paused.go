package prescient

import "time"

// What stands in Pause and Resume for more than a job_exec.
const (
	// AllExecs is everything: every job_exec, and the events.
	AllExecs = "*"
	// AllEvents is what forwarders publish. It is no job_exec, and no name that one can have.
	AllEvents = "*events"
)

// Paused is a pause that is in force. Times are UTC.
type Paused struct {
	// JobExec that is paused, AllExecs or AllEvents.
	JobExec string    `db:"job_exec" json:"job_exec"`
	Since   time.Time `db:"since" json:"since"`
	// By and Reason are free text, by whoever paused it.
	By     string `db:"paused_by" json:"by"`
	Reason string `db:"reason" json:"reason"`
}
