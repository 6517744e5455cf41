package recurring

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"testing"
	"time"

	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
)

func TestSpansAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]string{"": "", "90s": "1m30s", "1h30m": "1h30m", "2d": "2d", "36h": "1d12h", "1 h 30 min": "1h30m", "2d3h0m5s": "2d3h0m5s", "0s": "", "1H": "1h", "120h": "5d"} {
		ms, err := readSpan("x", text)
		if err != nil || span(ms) != want {
			t.Errorf("%q: %q, %v; want %q", text, span(ms), err, want)
		}
	}
	for _, text := range []string{"soon", "-1h", "1", "5d5", "d", "4001d", "99999999h", "1e9h", "+1d", "1d-3h"} {
		if ms, err := readSpan("x", text); err == nil {
			t.Errorf("%q: %d", text, ms)
		}
	}
}

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

func TestAStateOfTheAuditIsADefinition(t *testing.T) {
	for raw, want := range map[string]string{
		`{"crontabs":["0 3 * * *"],"zone":"UTC","job_exec":"ship","payload":"text","catch_up":"once","quota":0,"jitter":60,"enabled":true}`: "ship UTC 60000 0 true text 0",
		`{"crontabs":["0 3 * * *"],"zone":"UTC","job_exec":"ship","payload":{"bytes":3000,"sha256":"00"},"quota":90}`:                       "ship UTC 0 90000 false none 3000",
		`{"crontabs":["0 3 * * *"],"job_exec":"ship","payload":{"base64":"/w=="}}`:                                                          "ship  0 0 false base64 /w== 0",
		`{"crontabs":["0 3 * * *"],"payload":[1]}`:                                                                                          "  0 0 false none 1",
		`{"enabled":false}`: "nil", `{"bytes":70000,"sha256":"00"}`: "nil", `{"crontabs":7}`: "nil", ``: "nil", `null`: "nil", `[`: "nil",
	} {
		got := "nil"
		if d := readState("a", json.RawMessage(raw)); d != nil {
			got = fmt.Sprintf("%s %s %d %d %t %s %d", d.JobExec, d.Zone, d.JitterMS, d.QuotaMS, d.NoQuota, payloadText(d.Schedule), d.NotKept)
		}
		if got != want {
			t.Errorf("%s: %s; want %s", raw, got, want)
		}
	}
}

func TestChangesAreTheFieldsThatAreNotTheSame(t *testing.T) {
	before, after := []field{{Name: "a", Text: "1"}, {Name: "b", Text: "2"}, {Name: "gone", Text: "3"}}, []field{{Name: "a", Text: "1"}, {Name: "b", Text: "4"}, {Name: "new", Text: "5"}}
	want := []change{{"b", "2", "4"}, {"new", "", "5"}, {"gone", "3", ""}}
	if got := changes(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v; want %+v", got, want)
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

func TestWhatIsNoCrontabIsNotSaidInWords(t *testing.T) {
	for crontab, want := range map[string]string{"61 * * * *": "cannot be read: 61 * * * *", "30 3 * * *": "at 03:30 every day"} {
		if got := inWords([]string{crontab}, "UTC"); got != want {
			t.Errorf("%s: %s; want %s", crontab, got, want)
		}
	}
}
