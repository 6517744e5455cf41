package page_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

// refused has an event that waits, whose topic fails, and as many as there are hostile texts that a broker refused, from number 9007199254740993 on.
func (r *testRig) refused() {
	r.T.Helper()
	r.Exec(`INSERT INTO p_event_outbox (shard, seq, id, topic, event_key, generated_at, payload, inserted_at) VALUES (3, 5, ?, 'orders.late', 'k', '2026-11-20', 'secret', '2026-11-20')`, writable()[0])
	r.Exec(`INSERT INTO p_event_topic (topic, failing_since, failed_at, event_id, reason) VALUES ('orders.late', '2026-11-20 10:00:00', '2026-11-20 11:00:00', ?, ?)`, writable()[0], strings.Join(hostile, " "))
	for i, text := range hostile {
		topic := "orders.late"
		if i == 1 {
			topic = "orders.<b>"
		}
		r.Exec(`INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason) VALUES (?, 3, ?, ?, ?, '2026-11-20', 'secret', '2026-11-20', '2026-11-21', ?)`,
			9007199254740993+i, text, topic, text, "too large: "+text)
	}
	r.serveNow()
}

func TestEventsAreShownWithWhatBrokersRefused(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.look(ops.Viewer, "/events").wants(t, 200, "No event waits.", "None was found.").lacks(t, "paused", "Choose")
		r.refused()
		for _, role := range ops.Roles {
			got := r.look(role, "/events").wants(t, 200, "orders.late", "2026-11-20 10:00:00 UTC", "event <bdi>&lt;script&gt;", "too large: &lt;script&gt;", "orders.&lt;b&gt;").harmless(t).lacks(t, "secret", "<b>", "Next page")
			for _, deed := range []string{`name="number" value="9007199254740993"`, "/p/events/drop", "Pause the events", `<th scope="col" class="n">Bytes</th>`} {
				if strings.Contains(got.Body, deed) != role.May(ops.Operator) {
					t.Errorf("%s: %s in %s", role, deed, got.Body)
				}
			}
			for _, text := range hostile {
				r.look(role, "/events", "id", text).wants(t, 200, `<th scope="row">`).harmless(t)
			}
			r.look(role, "/events", "topic", "none").wants(t, 200, "None was found.")
			r.look(role, "/events", "topic", "größer").wants(t, 422)
			r.look(role, "/events", "after", hostile[0]).wants(t, 422, "is no number of an event").harmless(t)
		}
		by := served.By(ops.Operator)
		by.Name, by.Reason = "<b>eve", writable()[1]
		_, err := ops.SetPauses.Do(t.Context(), r.Ops, by, ops.Pausing{JobExecs: []string{"*events"}})
		r.Must(err)
		r.serveNow()
		r.look(ops.Operator, "/events").wants(t, 200, "The events are paused", "by <bdi>&lt;b&gt;eve", "Resume the events").harmless(t)
		r.Exec(`INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, inserted_at, refused_at, reason)
			SELECT 1000 + a.n * 11 + b.n, 3, 'many', 'many', 'k', '2026-11-20', '2026-11-20', '2026-11-21', '' FROM
			(SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10) a,
			(SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10) b`)
		r.look(ops.Viewer, "/events", "topic", "many").wants(t, 200, "Next page", "after=1099&amp;topic=many")
		r.look(ops.Viewer, "/events", "topic", "many", "after", "1099").wants(t, 200, "<bdi>many").lacks(t, "Next page")
	})
}

func TestRefusedEventsAreSentAgainOrDropped(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.refused()
		left := func() int { return r.Count("SELECT COUNT(*) FROM p_event_set_aside") }
		address := func(deed string, numbers ...int) string {
			path := "/p/events/" + deed + "?"
			for _, n := range numbers {
				path += fmt.Sprintf("number=%d&", n)
			}
			return strings.TrimSuffix(path, "&")
		}
		const first, third, broken = 9007199254740993, 9007199254740995, 9007199254740997
		for _, deed := range []string{"resend", "drop"} {
			r.get(ops.Viewer, address(deed, first)).wants(t, 403, "needs the role operator")
			r.sends(ops.Viewer, address(deed, first), nil).wants(t, 403)
			for _, wrong := range []string{"", "?number=x", "?number=-1", "?number=%3Cscript%3Ealert(1)"} {
				r.get(ops.Operator, "/p/events/"+deed+wrong).wants(t, 422).harmless(t)
				r.sends(ops.Operator, "/p/events/"+deed+wrong, nil).wants(t, 422).harmless(t)
			}
		}
		if left() != len(hostile) {
			t.Fatalf("%d are left", left())
		}
		action, form := r.get(ops.Operator, address("resend", first, third, 7)).wants(t, 200, "2 events that brokers refused are put into the outbox again", "1 other is not there any more", "too large: &lt;script&gt;", "This is <strong>").harmless(t).form(t)
		for range 2 { // sent twice, it is done once
			done := r.sends(ops.Operator, action, form).wants(t, 303)
			r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "2 events were put into the outbox again.")
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox"); n != 3 || left() != len(hostile)-2 {
			t.Errorf("%d wait, %d are set aside", n, left())
		}
		// What the outbox does not take is said, and stays.
		action, form = r.get(ops.Operator, address("resend", broken)).wants(t, 200, "1 event that a broker refused is put").harmless(t).form(t)
		r.sends(ops.Operator, action, form).wants(t, 422, "It was not done", "only drop it").harmless(t)
		action, form = r.get(ops.Operator, address("drop", broken)).wants(t, 200, "1 event that a broker refused is deleted, and never published").harmless(t).form(t)
		form["_reason"] = "nobody wants it"
		done := r.sends(ops.Operator, action, form).wants(t, 303)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 event was dropped.")
		if left() != len(hostile)-3 {
			t.Errorf("%d are left", left())
		}
		entries, err := ops.ListAudit.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.AuditAsked{Kind: "event", Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		if len(entries.Rows) != 3 || entries.Rows[0].Reason != "nobody wants it" || entries.Rows[0].Verb != "drop" || entries.Rows[0].Person != "operator" {
			t.Errorf("%+v", entries.Rows)
		}
	})
}

func TestAllRefusedEventsThatMatchAreSentAgainOrDropped(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.refused()
		left := func(of string) int { return r.Count("SELECT COUNT(*) FROM p_event_set_aside WHERE " + of) }
		for _, deed := range []string{"/events/resend_all", "/events/drop_all"} {
			r.look(ops.Viewer, deed, "topic", "orders.late").wants(t, 403, "needs the role operator")
			r.sends(ops.Viewer, "/p"+deed+"?topic=orders.late", nil).wants(t, 403)
			r.look(ops.Operator, deed, "topic", "none").wants(t, 422, "no event that was set aside matches")
			r.look(ops.Operator, deed, "topic", "größer").wants(t, 422)
			r.sends(ops.Operator, "/p"+deed+"?topic=orders.late", map[string]string{"until": "<b>soon"}).wants(t, 422).harmless(t)
		}
		r.Exec(`INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, inserted_at, refused_at, reason)
			SELECT 1000 + a.n * 11 + b.n, 3, 'many', 'many', 'k', '2026-11-20', '2026-11-20', '2026-11-21', 'too large' FROM
			(SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10) a,
			(SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10) b`)
		all := left("1 = 1")
		r.look(ops.Operator, "/events", "topic", "many").wants(t, 200, `href="/p/events/resend_all?topic=many"`, "Drop all that match")
		r.look(ops.Viewer, "/events", "topic", "many").lacks(t, "that match")
		action, form := r.look(ops.Operator, "/events/resend_all", "topic", "many").wants(t, 200, "121 events of topic <bdi>many</bdi> that brokers refused until", "The first 20 of them", "too large").harmless(t).form(t)
		form["_reason"] = "the broker takes more by now"
		if left("1 = 1") != all {
			t.Error("a preview did something")
		}
		// What is refused after the preview is not met.
		r.Exec(`INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, inserted_at, refused_at, reason) VALUES (5000, 3, 'later', 'many', 'k', '2026-11-20', '2026-11-20', '2099-01-01', 'r')`)
		for range 2 { // sent twice, it is done once
			done := r.sends(ops.Operator, action, form).wants(t, 303)
			r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "121 events were put into the outbox again.", "later")
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE topic = 'many'"); n != 121 || left("topic = 'many'") != 1 {
			t.Errorf("%d are sent again", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'event' AND verb = 'resend' AND reason = 'the broker takes more by now' AND person = 'operator'"); n != 121 {
			t.Errorf("%d entries of the audit", n)
		}
		action, form = r.look(ops.Operator, "/events/drop_all").wants(t, 200, fmt.Sprintf("%d events of all topics that brokers refused", len(hostile)), "never published").harmless(t).lacks(t, "secret").form(t)
		done := r.sends(ops.Operator, action, form).wants(t, 303)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, fmt.Sprintf("%d events were dropped.", len(hostile)))
		if left("1 = 1") != 1 {
			t.Errorf("%d are left", left("1 = 1"))
		}
	})
}
