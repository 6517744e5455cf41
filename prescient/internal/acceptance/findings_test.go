package acceptance

import (
	"strings"
	"testing"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/reslot"
)

func (r *testRig) examine(now time.Time, o doctor.Options) []doctor.Finding {
	r.T.Helper()
	o.Prefix, o.Dialect = "p_", r.Setting
	found, err := doctor.Examine(r.T.Context(), r.Pool(now), o)
	r.Must(err)
	return found
}

// foundIn returns the first finding with a code.
func foundIn(found []doctor.Finding, code string) doctor.Finding {
	for _, f := range found {
		if f.Code == code {
			return f
		}
	}
	return doctor.Finding{}
}

// wantFound fails unless there is a finding of this code and severity that has these texts.
func wantFound(t *testing.T, found []doctor.Finding, code string, severity doctor.Severity, texts ...string) {
	t.Helper()
	f := foundIn(found, code)
	if f.Severity != severity || severity.Wrong() && f.Do == "" {
		t.Errorf("%s is %+v; want %s, in %+v", code, f, severity, found)
		return
	}
	for _, text := range texts {
		if !strings.Contains(f.Text, text) {
			t.Errorf("%s says %q; want %q in it", code, f.Text, text)
		}
	}
}

// reslotTo changes the resolution, as an operator does.
func (r *testRig) reslotTo(to time.Duration) reslot.Result {
	r.T.Helper()
	did, err := reslot.Run(r.T.Context(), r.Pool(time.Time{}), reslot.Options{Prefix: "p_", Resolution: to, LeaseWait: -1})
	r.Must(err)
	return did
}
