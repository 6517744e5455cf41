package notify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/event/broker"
)

// taker is a broker that keeps what it was given.
type taker struct {
	got []broker.Message
	err error
}

func (k *taker) Publish(_ context.Context, m broker.Message) error {
	k.got = append(k.got, m)
	return k.err
}
func (*taker) Close() error { return nil }

func example() Message {
	over := at("12:10:00")
	return Message{ID: "finding-1", To: "team", At: at("12:15:00"), Place: "shop", Page: "https://ops.example.org", LookEvery: time.Minute, Items: []Item{
		{Kind: Came, Code: "failing", Severity: doctor.SeverityBad, Found: 2, About: []string{"export", "send"}, Since: at("12:00:00"), Text: "export: 9 of 9 calls failed.", Do: "Mend it."},
		{Kind: Over, Code: "clock", Severity: doctor.SeverityWarn, Found: 1, Since: at("12:00:00"), OverSince: &over, Text: "The clock is off.", Do: "Set it."},
	}}
}

func TestAWebhookIsToldAsJSON(t *testing.T) {
	k := new(taker)
	if err := Webhook(k).Send(t.Context(), example()); err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"prescient.findings","timestamp":"2026-11-20T12:15:00Z","data":{"place":"shop","page":"https://ops.example.org","receiver":"team","findings":[` +
		`{"kind":"new","code":"failing","severity":"bad","found":2,"about":["export","send"],"since":"2026-11-20T12:00:00Z","text":"export: 9 of 9 calls failed.","do":"Mend it."},` +
		`{"kind":"over","code":"clock","severity":"warn","found":1,"since":"2026-11-20T12:00:00Z","over_since":"2026-11-20T12:10:00Z","text":"The clock is off.","do":"Set it."}]}}`
	if m := k.got[0]; string(m.Body) != want || m.ID != "finding-1" || m.ContentType != "application/json" {
		t.Errorf("got %+v, %s", m, m.Body)
	}
}

func TestAnAlertmanagerIsToldByItsAPI(t *testing.T) {
	k := new(taker)
	if err := Alertmanager(k).Send(t.Context(), example()); err != nil {
		t.Fatal(err)
	}
	var got []alert
	if err := json.Unmarshal(k.got[0].Body, &got); err != nil || len(got) != 3 {
		t.Fatalf("%s, %v", k.got[0].Body, err)
	}
	first, second := got[0], got[1]
	if first.Labels["alertname"] != Alert || first.Labels["severity"] != "critical" || first.Labels["code"] != "failing" || first.Labels["place"] != "shop" || first.Annotations["description"] != "Mend it." ||
		!first.EndsAt.Equal(at("12:19:00")) || !first.StartsAt.Equal(at("12:00:00")) {
		t.Errorf("%+v", first)
	}
	if second.Labels["severity"] != "warning" || !second.EndsAt.Equal(at("12:10:00")) {
		t.Errorf("%+v", second)
	}
	if third := got[2]; third.Labels["severity"] != "critical" || third.Labels["code"] != "clock" || !third.EndsAt.Equal(at("12:10:00")) {
		t.Errorf("what is over is so by each severity that it had: %+v", third)
	}
	worse := example()
	worse.Items = worse.Items[:1]
	worse.Items[0].row.told = &told{severity: doctor.SeverityWarn}
	if list := alertsOf(worse); len(list) != 2 || list[0].Labels["severity"] != "critical" || list[1].Labels["severity"] != "warning" || !list[1].EndsAt.Equal(worse.At) || !list[0].EndsAt.After(worse.At) {
		t.Errorf("what got worse is no warning any more: %+v", list)
	}
	for base, want := range map[string]string{"http://am:9093": "http://am:9093/api/v2/alerts", "http://am/x/api/v2/alerts/": "http://am/x/api/v2/alerts", "https://u:p@h/alerts/?x=1": "https://u:p@h/alerts/api/v2/alerts?x=1"} {
		if got, err := AlertsURL(base); err != nil || got != want {
			t.Errorf("%s: %s, %v", base, got, err)
		}
	}
}

func TestAMessageIsTextForPeople(t *testing.T) {
	m := example()
	if got := m.Subject(); got != "prescient shop: bad: 2 findings" {
		t.Error(got)
	}
	const want = "bad: failing (2)\n  since 2026-11-20 12:00:00 UTC\n  export: 9 of 9 calls failed.\n  What to do: Mend it.\n\n" +
		"over: clock\n  since 2026-11-20 12:00:00 UTC until 2026-11-20 12:10:00 UTC\n  The clock is off.\n\nhttps://ops.example.org\n"
	if got := m.Body(); got != want {
		t.Error(got)
	}
	m.Items = m.Items[1:]
	if got := m.Subject(); got != "prescient shop: over: clock" || strings.Contains(m.Body(), "Set it") {
		t.Error(got)
	}
}

func TestAReceiverThatRepeatsItsURLShowsNoSecret(t *testing.T) {
	k := &taker{err: errors.New(`webhook: POST https://h1: answered 404 Not Found: "no /hook/s3cret here"`)}
	for _, to := range []Sender{Webhook(k, "", "hook/s3cret", "s3cret"), Alertmanager(k, "s3cret")} {
		if err := to.Send(t.Context(), example()); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "answered 404") {
			t.Error(err)
		}
	}
}
