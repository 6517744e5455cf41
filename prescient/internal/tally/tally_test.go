package tally

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
)

func TestBucketsGrowByFivePercent(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]int{-5: 0, 0: 0, 1: 1, 2: 15, 10: 48, 100: 95, 1000: 142, 86_400_000: 375, math.MaxInt32: 441} {
		if got := BucketOf(ms); got != want {
			t.Errorf("%d ms is in bucket %d; want %d", ms, got, want)
		}
	}
	for ms := int64(1); ms < 3_000_000; ms += 1 + ms/1000 {
		bucket := BucketOf(ms)
		if up := UpTo(bucket); up < ms || BucketOf(up) != bucket || BucketOf(up+1) <= bucket || float64(up) > float64(ms)*1.05+1 {
			t.Fatalf("%d ms is in bucket %d, whose longest is %d ms", ms, bucket, up)
		}
	}
}

func TestPercentilesAreThoseOfTheBuckets(t *testing.T) {
	t.Parallel()
	h := make(Histogram)
	for ms := range int64(1000) {
		h[BucketOf(ms)]++
	}
	for share, want := range map[float64]int64{0.5: 500, 0.95: 950, 0.99: 990, 1: 999} {
		if got := h.Percentile(share); float64(got) < float64(want)-1 || float64(got) > float64(want)*1.05+1 {
			t.Errorf("%v: %d ms; want %d, and 5 %% more at most", share, got, want)
		}
	}
	if got := (Histogram{}).Percentile(0.5); got != 0 {
		t.Errorf("of nothing: %d", got)
	}
	var read Histogram
	if err := read.Scan(h.AppendJSON(nil)); err != nil || fmt.Sprint(read) != fmt.Sprint(h) {
		t.Errorf("%v, %v; want %v", read, err, h)
	}
}

func TestAlikeErrorsHaveOneReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"order 42 has no row":                                 "order … has no row",
		`Get "https://a.example/x?y=1": context canceled`:     "Get …: context canceled",
		"Error 1062: Duplicate entry 'a-7' for key 'PRIMARY'": "Error 1062: Duplicate entry … for key …",
		"POST http://10.0.0.7:80: answered 503 Service":       "POST http://….….….…:…: answered 503 Service",
		"command sh: exited with 3":                           "command sh: exited with 3",
		"error 12345 of order 7":                              "error … of order …",
		"don't know user's 7th":                               "don't know user's …",
		"3f2a91b0-11ee-4a52-9c1e-aaaaaaaaaaaa is gone":        "… is gone",
		"dial tcp 10.0.0.7:3306: connection refused":          "dial tcp ….….….…:…: connection refused",
		"panic: nil map\ngoroutine 17 [running]":              "panic: nil map",
		`an open "quotation`:                                  `an open "quotation`,
		"":                                                    "",
		strings.Repeat("é", 300):                              strings.Repeat("é", maxReason),
		"\xff broken":                                         "\uFFFD broken",
	} {
		if got := ReasonOf(text); got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}

// However many names apps write, and however they spread over commits, a bucket has a bounded number of lines, and every check is counted.
func TestABucketHasABoundedNumberOfLines(t *testing.T) {
	t.Parallel()
	var books Books
	const n = 100_000
	draft := books.Draft()
	for i := range n {
		if i%1000 == 999 {
			books.Take(draft)
			draft = books.Draft()
		}
		job := prescient.FutureJob{JobExec: fmt.Sprint("exec", i%331), EntityName: fmt.Sprint("kind", i)}
		draft.Note(Noted{Job: &job, Called: true, Verdict: &prescient.Verdict{Outcome: prescient.Done}})
	}
	books.Take(draft)
	if got := len(books.lines); got > MaxLines+MaxExecs+1 {
		t.Errorf("%d lines", got)
	}
	var counted uint64
	kinds := make(map[string]int)
	for of, line := range books.lines {
		counted += line.counts[done]
		kinds[of.JobExec]++
	}
	if counted != n {
		t.Errorf("%d of %d checks are counted", counted, n)
	}
	if len(kinds) != MaxExecs+1 || kinds[Other] != 1 {
		t.Errorf("%d job_execs, %d times the others", len(kinds), kinds[Other])
	}
	for exec, n := range kinds {
		if n > MaxKinds+1 || n != books.kinds[exec] {
			t.Errorf("%s has %d kinds, and knows of %d", exec, n, books.kinds[exec])
		}
	}
}

func TestADraftThatIsNotTakenLeavesNothing(t *testing.T) {
	t.Parallel()
	var books Books
	job := prescient.FutureJob{JobExec: "a", EntityName: "order", EntityKey: "1"}
	note := func(d *Draft) {
		d.Note(Noted{Job: &job, Called: true, Err: errors.New("no"), Verdict: &prescient.Verdict{Outcome: prescient.Failed, Reason: "no"}})
	}
	draft := books.Draft()
	note(draft)
	books.Take(draft)
	lost := books.Draft()
	note(lost)
	line := books.lines[Of{"a", "order"}]
	if r := line.Reasons(1); line.counts[failed] != 1 || line.runs[0] != 1 || r[0].Checks != 1 {
		t.Errorf("%+v", line)
	}
	if len(books.kinds) != 1 || books.kinds["a"] != 1 {
		t.Errorf("%v", books.kinds)
	}
}

func TestWhatBecomesOfAChecksIsCountedOnce(t *testing.T) {
	t.Parallel()
	slot := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	job := prescient.FutureJob{JobExec: "a", EntityName: "order", EntityKey: "7", NextCheckAt: slot, DueAt: slot}
	ended := func(o prescient.Outcome) *prescient.Verdict { return &prescient.Verdict{Outcome: o, Reason: "why 1"} }
	for name, tt := range map[string]struct {
		noted  Noted
		want   map[count]uint64
		reason string
	}{
		"done":         {Noted{Called: true, Verdict: &prescient.Verdict{Outcome: prescient.Done}}, map[count]uint64{calls: 1, done: 1}, ""},
		"error, moved": {Noted{Called: true, Err: errors.New("x"), Verdict: &prescient.Verdict{Reason: "x 5"}}, map[count]uint64{calls: 1, failures: 1, moved: 1}, "x …"},
		"timeout": {Noted{Called: true, Err: prescient.ErrTimeout, Verdict: ended(prescient.TimedOut)},
			map[count]uint64{calls: 1, failures: 1, timeouts: 1, timedOut: 1}, "why …"},
		"not yet":      {Noted{Called: true, Verdict: &prescient.Verdict{}}, map[count]uint64{calls: 1, moved: 1}, ""},
		"max_checks":   {Noted{Called: true, Verdict: ended(prescient.MaxChecks)}, map[count]uint64{calls: 1, maxChecks: 1}, "why …"},
		"unregistered": {Noted{Cause: prescient.CauseUnregistered, Verdict: &prescient.Verdict{Reason: "no such"}}, map[count]uint64{unregistered: 1}, "no such"},
		"paused":       {Noted{Cause: prescient.CausePaused, Verdict: &prescient.Verdict{Reason: "an older error"}}, map[count]uint64{paused: 1}, ""},
		"dropped":      {Noted{Called: true, Dropped: true, Verdict: ended(prescient.Done)}, map[count]uint64{calls: 1, dropped: 1}, ""},
		"superseded":   {Noted{Called: true, Verdict: ended(prescient.Superseded)}, map[count]uint64{calls: 1}, "why …"},
	} {
		tt.noted.Job, tt.noted.Started, tt.noted.Ran = &job, slot.Add(2*time.Second), 70*time.Millisecond
		line := NewLine()
		line.note(tt.noted)
		var want [counts]uint64
		for at, n := range tt.want {
			want[at] = n
		}
		if line.counts != want {
			t.Errorf("%s: %v; want %v", name, line.counts, want)
		}
		var r Reason
		if reasons := line.Reasons(maxReasons); len(reasons) > 0 {
			r = reasons[0]
		}
		if r.Text != tt.reason || (r.Checks == 1) != (tt.reason != "") {
			t.Errorf("%s: reason %q of %d", name, r.Text, r.Checks)
		}
		if tt.noted.Called && (line.runs[BucketOf(70)] != 1 || line.lates[BucketOf(2000)] != 1 || line.maxLateMS != 2000) {
			t.Errorf("%s: %v %v", name, line.runs, line.lates)
		}
		if !json.Valid([]byte(r.Example.json())) {
			t.Errorf("%s: %s", name, r.Example.json())
		}
	}
}

func BenchmarkNote(b *testing.B) {
	var books Books
	job := prescient.FutureJob{JobExec: "order-unshipped", EntityName: "order"}
	verdict := prescient.Verdict{Outcome: prescient.Done}
	for b.Loop() {
		draft := books.Draft()
		for i := range 1000 {
			draft.Note(Noted{Job: &job, Called: true, Ran: time.Duration(i) * time.Microsecond, Started: time.Unix(int64(i), 0), Verdict: &verdict})
		}
		books.Take(draft)
	}
}
