package health

import (
	"context"
	"strings"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/mend"
)

// healthSeen is what the template gets.
type healthSeen struct {
	ops.Clock
	Severity     doctor.Severity
	Parts        []part
	Only, Ignore string
	// All says that also what is in order is shown; Fine is how much that is.
	All  bool
	Fine int
}

// part are the findings of a severity.
type part struct {
	Title, Class string
	Findings     []finding
}

// finding is one of the doctor's, with where the page can do something about it.
type finding struct {
	doctor.Finding
	Ways []mend.Way
}

// lookAgain is how old findings are at most while somebody looks.
const lookAgain = time.Minute

func showHealth(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := healthSeen{Only: a.Text("only"), Ignore: a.Text("ignore"), All: a.Text("show") == "all"}
	found, err := ops.Examine.Do(ctx, a.Ops, a.By, ops.DoctorAsked{Only: codes(is.Only), Ignore: codes(is.Ignore)})
	if err != nil {
		return front.Shown{}, err
	}
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	is.Severity = found.Severity
	is.Parts, is.Fine = parted(found.Findings, a.By.Role, is.All)
	return front.Shown{Data: is, Again: lookAgain}, nil
}

// codes reads a list of codes.
func codes(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// parted are the findings by how bad they are, the worst first; fine is how many are in order, which are there where all are wanted.
func parted(found []doctor.Finding, role ops.Role, all bool) (parts []part, fine int) {
	for _, one := range []struct {
		part
		of []doctor.Severity
	}{
		{part{Title: "What is bad", Class: "bad"}, []doctor.Severity{doctor.SeverityBad}},
		{part{Title: "What needs to be known", Class: "hint"}, []doctor.Severity{doctor.SeverityWarn}},
		{part{Title: "What was not looked at"}, []doctor.Severity{doctor.SeverityUnseen}},
		{part{Title: "What is in order", Class: "ok"}, []doctor.Severity{doctor.SeverityPart, doctor.SeverityOK}},
	} {
		for _, severity := range one.of {
			for _, f := range found {
				if f.Severity == severity {
					ways := mend.Ways(f, role, "/health")
					f.Do = mend.Do(f, role)
					one.Findings = append(one.Findings, finding{f, ways})
				}
			}
		}
		if one.Class == "ok" {
			fine = len(one.Findings)
			if !all {
				continue
			}
		}
		if len(one.Findings) > 0 {
			parts = append(parts, one.part)
		}
	}
	return parts, fine
}
