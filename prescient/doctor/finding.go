package doctor

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	// SeverityOK: it was looked at, and is as it should be.
	SeverityOK Severity = "ok"
	// SeverityWarn: it works, but will bite some day, or needs to be known.
	SeverityWarn Severity = "warn"
	// SeverityBad: checks are late, lost sight of, or refused.
	SeverityBad Severity = "bad"
)

// Finding is what Examine has to say about one thing.
type Finding struct {
	// Code names the kind of finding, for scripts: it does not change.
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
	// Do says what to do about it; empty where it is ok.
	Do string `json:"do,omitempty"`
	// DDL are the statements that mend it, where migrate --repair, or somebody, is to send some.
	DDL []string `json:"ddl,omitempty"`
	// Unseen says that it was not looked at, since the role of the account has no right to and needs none.
	Unseen bool `json:"unseen,omitempty"`
}

func fine(code, text string) Finding {
	return Finding{Code: code, Severity: SeverityOK, Text: text}
}

func warn(code, text, do string) Finding {
	return Finding{Code: code, Severity: SeverityWarn, Text: text, Do: do}
}

func bad(code, text, do string) Finding {
	return Finding{Code: code, Severity: SeverityBad, Text: text, Do: do}
}

// orFine adds what is said where nothing was found.
func orFine(found []Finding, code, text string) []Finding {
	if len(found) == 0 {
		return []Finding{fine(code, text)}
	}
	return found
}

// Worst is the severity of the worst finding.
func Worst(findings []Finding) Severity {
	worst := SeverityOK
	for _, f := range findings {
		if f.Severity == SeverityBad || f.Severity == SeverityWarn && worst == SeverityOK {
			worst = f.Severity
		}
	}
	return worst
}
