package books_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
)

// However many names there are, a few are named for each kind; the counts are exact.
func TestTroublesAreFewButCountAll(t *testing.T) {
	failing := func(exec string, cause prescient.Cause, err error) *check.Answered {
		job := prescient.FutureJob{EntityName: "order", EntityKey: "7", JobExec: exec}
		a := check.Answer{Cause: cause, Err: err}
		return &check.Answered{Row: check.Row{FutureJob: job}, Answer: a, Verdict: prescient.Decide(rig.Quarter, prescient.DefaultGuards(), job, a.Given(), rig.At("13:15"))}
	}
	var sum books.Troubles
	for bucket := range 4 {
		var part books.Troubles
		for i := range 50 {
			noteOf(&part, failing(fmt.Sprint("tyop-", bucket, "-", i), prescient.CauseUnregistered, nil))
			noteOf(&part, failing("known", prescient.CauseCalled, errors.New(strings.Repeat("ü", 2000))))
		}
		if part.Rows(books.TroubleUnregistered) != 50 || part.Rows(books.TroubleError) != 50 {
			t.Errorf("bucket %d: %+v", bucket, part)
		}
		sum.Add(part)
	}
	if len(sum) != books.MaxTroubled+2 || sum.Rows(books.TroubleUnregistered) != 200 || sum.Rows(books.TroubleError) != 200 {
		t.Errorf("%d entries of %d and %d rows", len(sum), sum.Rows(books.TroubleUnregistered), sum.Rows(books.TroubleError))
	}
	list := sum.Sorted()
	if list[0].JobExec != books.OtherExecs || list[0].Rows != 190 || list[0].Entity != "order/7" {
		t.Errorf("%+v", list[0])
	}
	if known := list[1]; known.JobExec != "known" || known.Rows != 200 || len([]rune(known.Error)) != books.MaxTroubleText || !strings.HasSuffix(known.Error, "…") {
		t.Errorf("%+v", known)
	}
}

func noteOf(t *books.Troubles, a *check.Answered) {
	t.Note(a.FutureJob, a.Answer.Trouble(a.Verdict.Outcome), a.Verdict)
}
