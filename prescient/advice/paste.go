package advice

import (
	"encoding/json"
	"fmt"
)

// Code is what a program takes: the curve, and how it is used. It is empty where there is no advice.
func (g Group) Code() string {
	if g.Curve == nil {
		return ""
	}
	text, err := json.Marshal(g.Curve)
	if err != nil {
		return fmt.Sprintf("the curve cannot be written: %v\n", err) // it is of numbers
	}
	return fmt.Sprintf("const curve = `%s`\n"+`err := json.Unmarshal([]byte(curve), &advised) // a prescient.Curve
DueAt: prescient.Advised(advised, now, now, prescient.Distances{})
return prescient.At(prescient.Advised(advised, job.InsertedAt, job.CalledAt, prescient.Distances{})), nil
prescient.Guards{MaxChecks: %d}
`, text, g.MaxChecks)
}

// Configuration is what a configuration takes where it is asked for over HTTP or by a command.
func (g Group) Configuration() string {
	return fmt.Sprintf("- exec: %s\n  max_checks: %d\n", g.JobExec, g.MaxChecks)
}
