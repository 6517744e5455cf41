package doctor

import (
	"strconv"
	"strings"
)

// Severity says how bad a finding is, and how much was looked at where nothing was found.
type Severity string

// The severities.
const (
	// SeverityOK: it was looked at whole, and is as it should be.
	SeverityOK Severity = "ok"
	// SeverityPart: a part of it was looked at, which the text names, and is as it should be.
	SeverityPart Severity = "part"
	// SeverityUnseen: it was not looked at. Do says who would.
	SeverityUnseen Severity = "not looked at"
	// SeverityWarn: it works, but will bite some day, or needs to be known.
	SeverityWarn Severity = "warn"
	// SeverityBad: checks are late, lost sight of, or refused.
	SeverityBad Severity = "bad"
)

// Wrong says whether something is to be done, or known.
func (s Severity) Wrong() bool { return s == SeverityWarn || s == SeverityBad }

// Finding is what Examine has to say about one thing.
type Finding struct {
	// Code names the kind of finding, for scripts: it does not change.
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
	// Do says what to do about it, or who would look at what was not looked at; empty where it is ok.
	Do string `json:"do,omitempty"`
	// DDL are the statements that mend it, where migrate --repair, or somebody, is to send some.
	DDL []string `json:"ddl,omitempty"`
	// About names what it is about, as far as that is not too many: job_execs, entities, slots or the ids of schedules, as the code has it.
	About  []string `json:"about,omitempty"`
	Unread bool     `json:"-"` // its examination met an error: what else it would have found nobody knows
}

// about is the finding with what it is about.
func (f Finding) about(names ...string) Finding {
	f.About = names
	return f
}

func of(severity Severity, code, text, do string) Finding {
	return Finding{Code: code, Severity: severity, Text: text, Do: do}
}

func fine(code, text string) Finding { return Finding{Code: code, Severity: SeverityOK, Text: text} }

// part is for what was found to be in order, but was not looked at whole.
func part(code, text, do string) Finding { return of(SeverityPart, code, text, do) }

func unseen(code, text, do string) Finding { return of(SeverityUnseen, code, text, do) }
func warn(code, text, do string) Finding   { return of(SeverityWarn, code, text, do) }
func bad(code, text, do string) Finding    { return of(SeverityBad, code, text, do) }

// orFine adds what is said where nothing was found: a sentence that does not begin as one, and has no period. parts are what alone was read,
// as "the first 500 rows"; none where all was.
func orFine(found []Finding, code, text string, parts ...string) []Finding {
	switch {
	case len(found) > 0:
		return found
	case len(parts) > 0:
		return []Finding{part(code, "Among "+strings.Join(parts, " and ")+", "+text+"; the rest was not read.", "")}
	}
	return []Finding{fine(code, sentence(text))}
}

// sentence makes a text one: its first letter is a capital, and it ends with a period.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return capital(text) + "."
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// many is a number as people read it: 5,000.
func many(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// counted is a number and what of: 1 check is, 5,000 checks are.
func counted(n int, one, more string) string { return many(n) + " " + form(n, one, more) }

// form is the form of a word for a number.
func form(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Worst is the severity of the worst finding. What was looked at in part, or not at all, is not wrong.
func Worst(findings []Finding) Severity {
	worst := SeverityOK
	for _, f := range findings {
		if f.Severity == SeverityBad || f.Severity == SeverityWarn && worst == SeverityOK {
			worst = f.Severity
		}
	}
	return worst
}
