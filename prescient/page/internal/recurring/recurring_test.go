package recurring

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"testing"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
)

// What a form says is what it was made of.
func TestAFormSaysTheDefinitionThatItWasMadeOf(t *testing.T) {
	text, cr, empty := "one\n\ttwo <b>", "a\rb", ""
	for name, d := range map[string]definition.Schedule{
		"few fields": {ID: "a", JobExec: "ship", Timing: definition.Timing{Crontabs: []string{"0 3 * * *"}, Zone: "UTC", CatchUp: "once"}},
		"all fields": {ID: "a", JobExec: "ship", Owner: "customer/42", Payload: &text, Long: true, Timing: definition.Timing{Crontabs: []string{"0 3 * * *", "@daily"}, Zone: "Europe/Berlin", CatchUp: "all",
			CatchUpWithinMS: 90_000, ExpiresAfterMS: 3_600_000, JitterMS: 60_000, MayCoalesce: true, Overlap: "queue", ToleranceMS: 5000, QuotaMS: 7_200_000, Pool: "heavy", Heartbeat: "beat"}},
		"a topic":                     {ID: "a", Topic: "news", Payload: &empty, Timing: definition.Timing{Crontabs: []string{"0 3 * * *"}, Zone: "UTC", CatchUp: "skip"}},
		"bytes":                       {ID: "a", Topic: "news", PayloadBase64: "/w==", Timing: definition.Timing{Crontabs: []string{"0 3 * * *"}, Zone: "UTC", CatchUp: "skip"}},
		"a text that browsers change": {ID: "a", JobExec: "ship", Payload: &cr, Long: true, Timing: definition.Timing{Crontabs: []string{"0 3 * * *"}, Zone: "UTC", CatchUp: "skip", Overlap: "allow", NoQuota: true}},
	} {
		f := formOf(d)
		values := url.Values{"id": {f.ID}, "crontabs": {f.Crontabs}, "zone": {f.Zone}, "job_exec": {f.JobExec}, "topic": {f.Topic}, "owner": {f.Owner}, "payload_is": {f.PayloadIs}, "payload": {f.Payload}, "catch_up": {f.CatchUp},
			"catch_up_within": {f.CatchUpWithin}, "expires_after": {f.ExpiresAfter}, "jitter": {f.Jitter}, "overlap": {f.Overlap}, "tolerance": {f.Tolerance}, "quota": {f.Quota}, "pool": {f.Pool}, "heartbeat": {f.Heartbeat}}
		for name, is := range map[string]bool{"may_coalesce": f.MayCoalesce, "long": f.Long, "no_quota": f.NoQuota} {
			if is {
				values.Set(name, "1")
			}
		}
		got, err := filledIn(front.NewQuery(values)).definition(d)
		if err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, d)
		}
	}
}

func TestWhoMadeAVersionIsWhoDefinedItLast(t *testing.T) {
	one, other := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), time.Date(2026, 11, 19, 10, 0, 0, 0, time.UTC)
	entry := func(version uint64, verb string, of time.Time) ops.AuditEntry {
		return ops.AuditEntry{Version: version, Verb: verb, Incarnation: &of, Reason: fmt.Sprint(verb, version)}
	}
	entries := []ops.AuditEntry{{Version: 3, Verb: "run"}, entry(5, "pause", one), entry(4, "update", one), entry(3, "resume", one), entry(2, "pause", one), entry(1, "create", one), entry(2, "delete", other), entry(1, "create", other)}
	for _, test := range []struct {
		version, before uint64
		of              time.Time
		want            string
	}{{5, 3, one, "update4"}, {3, 0, one, "create1"}, {1, 0, other, "create1"}, {9, 5, one, ""}, {3, 1, one, ""}} {
		got := ""
		if e := madeBy(entries, definition.ScheduleVersion{Version: test.version, CreatedAt: test.of}, test.before); e != nil {
			got = e.Reason
		}
		if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestOccurrencesAroundAChangeOfClocks(t *testing.T) {
	change := time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)
	var all []occurrence
	for i := range 10 {
		all = append(all, occurrence{At: change.Add(time.Duration(i-5) * time.Hour)})
	}
	got := around(all, change)
	if len(got) != beforeChange+behindIt || !got[beforeChange].At.Equal(change) {
		t.Errorf("%v", got)
	}
	if got := around(all[:2], change); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := around(nil, change); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestAFormOfAJobSaysTheDefinitionThatItWasMadeOf(t *testing.T) {
	d := definition.Job{Name: "nightly", Timing: definition.Timing{Crontabs: []string{"0 3 * * *", "@daily"}, Zone: "Europe/Berlin", CatchUp: "all", CatchUpWithinMS: 90_000, ExpiresAfterMS: 3_600_000, JitterMS: 60_000, MayCoalesce: true,
		Overlap: "queue", ToleranceMS: 5000, NoQuota: true, Pool: "heavy", Heartbeat: "beat"}, Steps: []definition.Step{{Name: "report", Shared: true},
		{Name: "export", JobExec: "export-orders", Arguments: json.RawMessage(`{"a":"<b>","of":[1,2]}`), TimeoutMS: 1500, Retries: 3, RetryWaitMS: 60_000, OnFailure: "continue"}, {Name: "ship", JobExec: "ship", OnFailure: "stop"}}}
	f := jobFormOf(d)
	values := url.Values{"name": {f.Name}, "crontabs": {f.Crontabs}, "zone": {f.Zone}, "catch_up": {f.CatchUp}, "catch_up_within": {f.CatchUpWithin}, "expires_after": {f.ExpiresAfter}, "jitter": {f.Jitter}, "may_coalesce": {"1"},
		"overlap": {f.Overlap}, "tolerance": {f.Tolerance}, "quota": {f.Quota}, "no_quota": {"1"}, "pool": {f.Pool}, "heartbeat": {f.Heartbeat}}
	for _, s := range f.Steps {
		for name, value := range map[string]string{"step_name": s.Name, "step_is": s.Is, "step_exec": s.JobExec, "step_arguments": s.Arguments, "step_timeout": s.Timeout, "step_retries": s.Retries, "step_wait": s.RetryWait, "step_failure": s.Failed} {
			values.Add(name, value)
		}
	}
	got, err := jobFilledIn(front.NewQuery(values)).definition()
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%+v, %v; want %+v", got, err, d)
	}
	values["step_arguments"] = values["step_arguments"][:1] // a form that nobody's browser sends
	if got, err := jobFilledIn(front.NewQuery(values)).definition(); err != nil || got.Steps[1].Arguments != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for raw, want := range map[string]string{`{"a":"b"}`: `{"a":"b"}`, "\"a\ufffe\u007f\"": `"a\ufffe\u007f"`, "\"\U0001fffe\"": `"\ud83f\udffe"`} {
		text := typable(raw)
		var was, is string
		if raw[0] == '"' && (json.Unmarshal([]byte(raw), &was) != nil || json.Unmarshal([]byte(text), &is) != nil || was != is) || text != want {
			t.Errorf("%q: %q; want %q", raw, text, want)
		}
	}
}

func TestWhatIsNoCrontabIsNotSaidInWords(t *testing.T) {
	for crontab, want := range map[string]string{"61 * * * *": "cannot be read: 61 * * * *", "30 3 * * *": "at 03:30 every day"} {
		if got := inWords([]string{crontab}, "UTC"); got != want {
			t.Errorf("%s: %s; want %s", crontab, got, want)
		}
	}
}
