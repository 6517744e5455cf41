package rowtext

import (
	"math/rand/v2"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	text "prescient/sql"
)

// NewRevision is random, so that a row that was cancelled and one that took its place never share one. 63 bits leave
// room to count up.
func NewRevision() uint64 { return rand.Uint64() >> 1 }

// More says which columns are named that most jobs do not need.
type More struct {
	Text    bool // tag and payload
	Expires bool // expires_at
	Trace   bool // trace
	Rule    bool // rule_version and occasion_at
}

// MoreOf says what a job has that most have not.
func MoreOf(j *prescient.NewJob) More {
	return More{Text: j.Tag != "" || j.Payload != nil, Expires: j.ExpiresAfter != 0, Trace: j.Trace != "", Rule: j.RuleVersion != 0}
}

// Or says what any of two jobs has.
func (m More) Or(other More) More {
	return More{Text: m.Text || other.Text, Expires: m.Expires || other.Expires, Trace: m.Trace || other.Trace, Rule: m.Rule || other.Rule}
}

// Columns names the columns that an insert has besides, in a dialect.
func (m More) Columns(dialect text.Dialect) string {
	columns := ""
	if dialect == text.Plain {
		columns = ", inserted_at"
	}
	if m.Text {
		columns += ", tag, payload"
	}
	if m.Expires {
		columns += ", expires_at"
	}
	if m.Trace {
		columns += ", trace"
	}
	if m.Rule {
		columns += ", rule_version, occasion_at"
	}
	return columns
}

// Times are the times of a row, as text: thousands of rows may have the same.
type Times struct {
	// Slots are first_check_at and next_check_at, with a comma between them.
	Slots []byte

	due      []byte // due_at
	inserted []byte // inserted_at, where its default would go by the session's time zone
	expires  []byte // expires_at
}

// TimesOf writes times as numbers where they have whole seconds: the servers read those sooner.
func TimesOf(dialect text.Dialect, due, slot time.Time, expiresAfter time.Duration) Times {
	first := literal.AppendNumber(nil, slot)
	t := Times{Slots: slices.Concat(first, []byte(","), first)}
	if due.Nanosecond() == 0 {
		t.due = literal.AppendNumber(nil, due)
	} else {
		t.due = literal.AppendMicro(nil, due)
	}
	t.expires = literal.AppendMicroOrNull(nil, prescient.ExpiresAt(due, expiresAfter))
	if dialect == text.Plain {
		t.inserted = []byte(",UTC_TIMESTAMP(6)")
	}
	return t
}

// Append appends (…) for client/insert.
func Append(b []byte, job *prescient.NewJob, key prescient.Key, times Times, m More) []byte {
	b = append(b, '(')
	b = append(literal.AppendText(b, job.Entity.Name), ',')
	b = append(literal.AppendText(b, job.Entity.Key), ',')
	b = append(literal.AppendText(b, job.JobExec), ',')
	b = append(append(b, times.due...), ',')
	b = append(literal.AppendKey(b, key), ',')
	b = append(append(b, times.Slots...), ',')
	b = append(literal.AppendUint(b, NewRevision()), times.inserted...)
	if m.Text {
		b = literal.AppendText(append(b, ','), job.Tag)
		b = literal.AppendJSON(append(b, ','), string(job.Payload))
	}
	if m.Expires {
		b = append(append(b, ','), times.expires...)
	}
	if m.Trace {
		b = literal.AppendTextOrNull(append(b, ','), job.Trace)
	}
	if m.Rule {
		b = append(b, ',')
		b = append(b, ruleOf(job.RuleVersion)...)
		b = append(b, ',')
		b = append(b, occasionOf(job)...)
	}
	return append(b, ')')
}

// SetExpiry sets expires_at where a row has one, or is to have one.
func SetExpiry(pending prescient.FutureJob, expiresAt *time.Time) string {
	if pending.ExpiresAt == nil && expiresAt == nil {
		return ""
	}
	return ", expires_at = " + literal.Of(literal.AppendMicroOrNull, expiresAt)
}

// SetTrace sets trace where a row has one, or is to have one.
func SetTrace(pending prescient.FutureJob, trace string) string {
	if pending.Trace == "" && trace == "" {
		return ""
	}
	return ", trace = " + literal.Of(literal.AppendTextOrNull, trace)
}

// SetRule sets rule_version and occasion_at where a row has them, or is to have them.
func SetRule(pending prescient.FutureJob, job *prescient.NewJob) string {
	if pending.RuleVersion == 0 && pending.OccasionAt == nil && job.RuleVersion == 0 {
		return ""
	}
	return ", rule_version = " + ruleOf(job.RuleVersion) + ", occasion_at = " + occasionOf(job)
}

func ruleOf(version uint32) string {
	if version == 0 {
		return "NULL"
	}
	return literal.Of(literal.AppendUint, uint64(version))
}

func occasionOf(job *prescient.NewJob) string {
	if job.RuleVersion == 0 {
		return "NULL"
	}
	return literal.Of(literal.AppendMicro, job.OccasionAt)
}
