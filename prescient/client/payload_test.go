package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
)

// nested is an array in an array in an array …
func nested(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

func TestAPayloadComesBackAsTheSameJSON(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, text := range rig.Nasty() {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(quoted), `{`+string(quoted)+`: [`+string(quoted)+`]}`)
	}
	slices.Sort(texts)
	eachServer(t, func(t *testing.T, r *testRig) {
		app, pool := r.AppAt(rig.At("10:00")), r.Pool(rig.At("10:00"))
		for i, payload := range append([]json.RawMessage{
			nil,
			json.RawMessage(`null`),
			json.RawMessage(`{}`), json.RawMessage(`[]`), json.RawMessage(`""`), json.RawMessage(`0`), json.RawMessage(`-0.5e-3`),
			json.RawMessage(`true`), json.RawMessage(" {\n\t\"a\" : [ 1 , 2 ]\r\n} "),
			json.RawMessage(`{"order": {"id": 9007199254740993, "at": "2026-11-20T13:05:00Z"}}`),
			json.RawMessage(`"\u0000\ud83d\udea2\/\b\f\n\r\t\"\\"`),
			nested(31),
			json.RawMessage(`["` + strings.Repeat("x", 1<<20) + `"]`),
			json.RawMessage(`["` + strings.Repeat(`'\\`, 1<<16) + `"]`),
			json.RawMessage(`["` + strings.Repeat("🚢", 1<<15) + `"]`),
			json.RawMessage(`[` + strings.Repeat("1,", 1<<13) + `1]`),
			json.RawMessage(`"` + strings.Repeat("x", prescient.MaxPayload-2) + `"`),
		}, json.RawMessage(`[`+strings.Join(texts, ", ")+`]`)) {
			e := rig.Order(fmt.Sprint(i))
			for _, way := range []struct {
				name string
				do   func() error
			}{
				{"Insert", func() error {
					_, err := r.client.Insert(t.Context(), app, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("11:00"), Payload: payload})
					return err
				}},
				{"Replace", func() error {
					_, err := r.client.Insert(t.Context(), app, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("11:00"), Payload: json.RawMessage(`1`), OnPending: prescient.Replace})
					r.Must(err)
					_, err = r.client.Insert(t.Context(), app, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("11:00"), Payload: payload, OnPending: prescient.Replace})
					return err
				}},
				{"Reschedule", func() error {
					_, err := r.client.Reschedule(t.Context(), app, e, "ship", "", rig.At("12:00"))
					return err
				}},
			} {
				if len(payload) == prescient.MaxPayload && way.name != "Insert" {
					continue // it takes its time
				}
				if err := way.do(); err != nil {
					t.Fatalf("%s %.40s: %v", way.name, payload, err)
				}
				job, err := r.client.Get(t.Context(), app, e, "ship", "")
				r.Must(err)
				sameJSON(t, job.Payload, payload)
				listed, err := r.client.Pending(t.Context(), pool, ListFilter{Entity: e})
				r.Must(err)
				sameJSON(t, listed[0].Payload, payload)
			}
			n, err := r.client.Cancel(t.Context(), app, e)
			if err != nil || n != 1 {
				t.Fatalf("cancelling %.40s: %d, %v", payload, n, err)
			}
			ended, err := r.client.History(t.Context(), pool, ListFilter{Entity: e})
			r.Must(err)
			sameJSON(t, ended[0].Payload, payload)
		}
	})
}

func TestAPayloadThatNoServerStoresIsRefusedWithNothingWritten(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StillClocks)
		r.Needs(t, rig.StrictSurrogates)
		for _, params := range []string{"", "&sql_mode=''"} {
			app := servertest.Open(t, r.Account("app-reschedule"), rig.FixedClock(rig.At("10:00"))+params)
			for name, payload := range map[string]json.RawMessage{
				"nothing":             {},
				"a word":              json.RawMessage(`shipped`),
				"a comma too many":    json.RawMessage(`[1,]`),
				"two values":          json.RawMessage(`{} {}`),
				"single quotes":       json.RawMessage(`{'a': 1}`),
				"NaN":                 json.RawMessage(`NaN`),
				"a raw tab":           json.RawMessage("\"a\tb\""),
				"a byte order mark":   json.RawMessage("\ufeff{}"),
				"bytes not UTF-8":     json.RawMessage("\"\xff\""),
				"half of a surrogate": json.RawMessage(`"\ud800"`),
				"nested too deep":     nested(101),
				"too long":            json.RawMessage(`"` + strings.Repeat("x", prescient.MaxPayload-1) + `"`),
			} {
				job := prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", DueAt: rig.At("11:00"), Payload: payload}
				_, err := r.client.Insert(t.Context(), app, job)
				rig.WantErr(t, "Insert of "+name, err, prescient.ErrInvalid)
				_, err = r.client.InsertMany(t.Context(), app, []prescient.NewJob{job})
				rig.WantErr(t, "InsertMany of "+name, err, prescient.ErrInvalid)
				r.none()

				r.put(app, prescient.NewJob{Entity: job.Entity, JobExec: job.JobExec, DueAt: rig.At("11:00"), Payload: json.RawMessage(`"first"`)})
				job.OnPending = prescient.Replace
				_, err = r.client.Insert(t.Context(), app, job)
				rig.WantErr(t, "Replace by "+name, err, prescient.ErrInvalid)
				sameJSON(t, r.one().Payload, json.RawMessage(`"first"`))
				r.Clear()
			}
		}
	})
}

// sameJSON compares two documents; MySQL stores them in a form of its own.
func sameJSON(t *testing.T, got, want json.RawMessage) {
	t.Helper()
	if (got == nil) != (want == nil) {
		t.Errorf("payload %.80q; want %.80q", got, want)
	}
	if bytes.Equal(got, want) {
		return
	}
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Errorf("payload %.80q: %v", got, err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("payload %.80q; want %.80q", got, want)
	}
}
