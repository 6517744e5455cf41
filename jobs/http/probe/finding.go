package probe

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	OK     Severity = "ok"
	Unseen Severity = "not looked at"
	Warn   Severity = "warn"
	Bad    Severity = "bad"
)

// The codes of findings: which call it is about.
const (
	CodeSigned   = "signed"
	CodeAgain    = "again"
	CodeSpaces   = "spaces"
	CodeLarge    = "large"
	CodeMember   = "member"
	CodeVersion  = "version"
	CodeUnsigned = "unsigned"
	CodeForged   = "forged"
	CodeReplayed = "replayed"
	CodeChanged  = "changed"
)

// Finding is what came of one call.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	// Status is that of HTTP; 0 where there was no answer.
	Status int   `json:"status,omitempty"`
	TookMS int64 `json:"took_ms"`
	// Text says what was seen, and what a worker makes of it.
	Text string `json:"text"`
	// Do says what to do about it; empty for nothing.
	Do string `json:"do,omitempty"`
	// Err is what a worker's log says of the call, as it stands in Text; nil where it was answered.
	Err error `json:"-"`
}

// Worst is the severity of the worst finding.
func Worst(findings []Finding) Severity {
	worst := OK
	for _, f := range findings {
		if f.Severity == Bad || f.Severity == Warn && worst != Bad {
			worst = f.Severity
		}
	}
	return worst
}
