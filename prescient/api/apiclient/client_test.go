package apiclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"prescient/prescient/api"
	"prescient/prescient/api/apiclient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an installation whose API is served, at a clock that stands still, to clients whose tokens are the names of their roles.
type testRig struct {
	*served.Rig
	address string
	strict  *strict
}

func eachServer(t *testing.T, now time.Time, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := &testRig{Rig: served.New(t, d, 15*time.Minute), strict: &strict{}}
		o := r.Ops
		if !now.IsZero() {
			o = r.OpsAt(now)
		}
		server := httptest.NewServer(api.New(api.Options{Ops: o, Rate: 1e6, Authenticate: func(req *http.Request) (ops.Caller, error) {
			role, err := ops.ParseRole(door.Bearer(req))
			if err != nil {
				return ops.Caller{}, fmt.Errorf("%w: %s", ops.ErrUnauthorized, err)
			}
			return served.By(role), nil
		}}))
		t.Cleanup(server.Close)
		r.address = server.URL
		test(t, r)
	})
}

// client is one whose token is a role.
func (r *testRig) client(role ops.Role) *apiclient.Client {
	r.T.Helper()
	c, err := apiclient.New(r.address, apiclient.Options{Token: string(role), HTTP: &http.Client{Transport: r.strict}})
	r.Must(err)
	return c
}

// strict keeps the last answer, for a look at what the description does not have.
type strict struct{ last []byte }

func (s *strict) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || resp.Header.Get("Content-Type") != "application/json" {
		return resp, err
	}
	defer resp.Body.Close()
	s.last, err = io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(s.last))
	return resp, err
}

func newChecks(n int, due time.Time) (in apiclient.Inserting) {
	for i := range n {
		in.Checks = append(in.Checks, apiclient.NewCheck{Entity: fmt.Sprint("order/", i), JobExec: "ship", DueAt: due, Payload: json.RawMessage(`{"big":9007199254740993}`)})
	}
	return in
}

func TestAClientSeesAChecksLife(t *testing.T) {
	eachServer(t, rig.At("10:00"), func(t *testing.T, r *testRig) {
		ctx, c := t.Context(), r.client(ops.Operator)
		for range 2 { // as after a lost answer
			did, err := c.ChecksInsert(ctx, newChecks(1, rig.At("13:01")), apiclient.Key("k1"), apiclient.Reason("placed"))
			r.Must(err)
			if len(did.Checks) != 1 || did.Checks[0].Did != apiclient.PlacedDidInserted || !did.Checks[0].Slot.Equal(rig.At("13:15")) {
				t.Errorf("%+v", did)
			}
		}
		if _, err := c.ChecksInsert(ctx, newChecks(2, rig.At("13:01")), apiclient.Key("k1")); !errors.Is(err, apiclient.ProblemTypeErrKeyUsed) {
			t.Errorf("another body with the key: %v", err)
		}
		check := apiclient.ChecksGetParams{Entity: "order/0", JobExec: "ship"}
		got, err := c.ChecksGet(ctx, check)
		r.Must(err)
		if !got.DueAt.Equal(rig.At("13:01")) || got.ExpiresAt != nil || got.Revision == 0 || !bytes.Contains(got.Payload, []byte("9007199254740993")) {
			t.Errorf("%+v", got)
		}
		moved, err := c.ChecksReschedule(ctx, apiclient.Rescheduling{Entity: "order/0", JobExec: "ship", DueAt: rig.At("14:01")})
		r.Must(err)
		if moved.Did != apiclient.PlacedDidRescheduled || !moved.Slot.Equal(rig.At("14:15")) {
			t.Errorf("%+v", moved)
		}
		n, err := c.ChecksCancel(ctx, apiclient.Cancelling{Entity: "order/0"})
		r.Must(err)
		if n.Count != 1 {
			t.Errorf("%+v", n)
		}
		var e *apiclient.Error
		if _, err := c.ChecksGet(ctx, check); !errors.Is(err, apiclient.ProblemTypeErrNotFound) || !errors.As(err, &e) || e.Status != 404 {
			t.Errorf("once it is cancelled: %v", err)
		}
		ended, err := c.ChecksEnded(ctx, apiclient.ChecksEndedParams{Entity: "order/0", Outcome: "cancelled"})
		r.Must(err)
		if len(ended.Rows) != 1 || ended.Next != "" || ended.Rows[0].LatenessMS != nil || ended.Rows[0].Outcome != "cancelled" {
			t.Errorf("%+v", ended)
		}
		if _, err := c.ChecksReschedule(ctx, apiclient.Rescheduling{Entity: "order/0", JobExec: "ship", DueAt: rig.At("10:00").AddDate(9, 0, 0)}); !errors.Is(err, apiclient.ProblemTypeErrBeyondHorizon) {
			t.Errorf("beyond the horizon: %v", err)
		}
	})
}

func TestAClientReadsListsAndExportsToTheirEnd(t *testing.T) {
	eachServer(t, rig.At("10:00"), func(t *testing.T, r *testRig) {
		ctx, c := t.Context(), r.client(ops.Operator)
		_, err := c.ChecksInsert(ctx, newChecks(75, rig.At("13:01")))
		r.Must(err)
		listed, pages := make(map[string]bool), 0
		for asked := (apiclient.ChecksPendingParams{JobExec: "ship", Limit: 20}); ; pages++ {
			page, err := c.ChecksPending(ctx, asked)
			r.Must(err)
			for _, row := range page.Rows {
				listed[row.EntityKey] = true
			}
			if asked.After = page.Next; page.Next == "" {
				break
			}
		}
		resp, err := c.ChecksExportPending(ctx, apiclient.ChecksExportPendingParams{JobExec: "ship"})
		r.Must(err)
		exported := make(map[string]bool)
		for row, err := range apiclient.Rows[apiclient.FutureJob](resp) {
			r.Must(err)
			exported[row.EntityKey] = true
		}
		if len(listed) != 75 || pages != 3 || !maps.Equal(listed, exported) {
			t.Errorf("%d in %d pages, %d exported", len(listed), pages+1, len(exported))
		}
		resp, err = c.ChecksExportPending(ctx, apiclient.ChecksExportPendingParams{Format: apiclient.ChecksExportPendingParamsFormatCsv})
		r.Must(err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		r.Must(err)
		if bytes.Count(text, []byte("\n")) != 76 || resp.Trailer.Get("Prescient-Rows") != "75" {
			t.Errorf("%.200s %v", text, resp.Trailer)
		}
	})
}

func TestAClientCancelsInBulk(t *testing.T) {
	eachServer(t, time.Time{}, func(t *testing.T, r *testRig) { // at the running clock: what is inserted is before the preview
		ctx, c := t.Context(), r.client(ops.Operator)
		_, err := c.ChecksInsert(ctx, newChecks(3, time.Now().Add(2*time.Hour)))
		r.Must(err)
		preview, err := c.BulkPreview(ctx, apiclient.BulkAsked{Deed: apiclient.BulkAskedDeedCancel, Filter: apiclient.BulkFilter{JobExec: "ship"}})
		r.Must(err)
		if preview.Count != 3 || !preview.Exact || len(preview.Sample) != 3 {
			t.Errorf("%+v", preview)
		}
		start := apiclient.BulkStarting{Number: preview.Number, Token: preview.Token}
		run, err := c.BulkStart(ctx, start)
		r.Must(err)
		if run.StartedAt == nil || run.EndedAt != nil {
			t.Errorf("%+v", run)
		}
		if _, err := c.BulkStart(ctx, start); !errors.Is(err, apiclient.ProblemTypeErrToken) {
			t.Errorf("begun twice: %v", err)
		}
		r.Must(r.Ops.WorkBulk(ctx, "w"))
		if run, err = c.BulkGet(ctx, apiclient.BulkGetParams{Number: run.Number}); err != nil || run.Done != 3 || run.EndedAt == nil {
			t.Errorf("%+v, %v", run, err)
		}
	})
}

func TestAClientMayWhatItsRoleMay(t *testing.T) {
	eachServer(t, rig.At("10:00"), func(t *testing.T, r *testRig) {
		ctx := t.Context()
		_, err := r.client(ops.Operator).ChecksInsert(ctx, newChecks(1, rig.At("13:01")))
		r.Must(err)
		if _, err := r.client(ops.Viewer).ChecksCancel(ctx, apiclient.Cancelling{Entity: "order/0"}); !errors.Is(err, apiclient.ProblemTypeErrForbidden) {
			t.Errorf("a viewer cancels: %v", err)
		}
		got, err := r.client(ops.Viewer).ChecksGet(ctx, apiclient.ChecksGetParams{Entity: "order/0", JobExec: "ship"})
		r.Must(err)
		if string(got.Payload) != "null" {
			t.Errorf("a viewer sees %s", got.Payload)
		}
		if _, err := r.client(ops.Operator).TokensCreate(ctx, apiclient.NewToken{Name: "ada", Role: apiclient.NewTokenRoleViewer}); !errors.Is(err, apiclient.ProblemTypeErrForbidden) {
			t.Errorf("an operator makes a token: %v", err)
		}
		made, err := r.client(ops.Admin).TokensCreate(ctx, apiclient.NewToken{Name: "ada", Role: apiclient.NewTokenRoleViewer})
		r.Must(err)
		if made.Token == "" || made.Number == 0 || made.LastUsedAt != nil || made.State != apiclient.MadeTokenStateLive {
			t.Errorf("%+v", made)
		}
		if _, err := r.client("").PausesList(ctx); !errors.Is(err, apiclient.ProblemTypeErrUnauthorized) {
			t.Errorf("nobody lists pauses: %v", err)
		}
		if _, err := r.client("").Health(ctx, apiclient.HealthParams{}); err != nil {
			t.Errorf("nobody asks for the health: %v", err)
		}
	})
}

// What is asked with nothing is answered as described: each field of the answer is one of the client's.
func TestAClientReadsEveryAnswer(t *testing.T) {
	eachServer(t, rig.At("10:00"), func(t *testing.T, r *testRig) {
		ctx, c := t.Context(), r.client(ops.Admin)
		_, err := c.ChecksInsert(ctx, newChecks(2, rig.At("13:01")))
		r.Must(err)
		_, err = c.ChecksCancel(ctx, apiclient.Cancelling{Entity: "order/0"}, apiclient.Reason("asked"))
		r.Must(err)
		_, err = c.SchedulesCreate(ctx, apiclient.ScheduleDefinition{ID: "digest", Crontabs: []string{"30 8 * * *"}, JobExec: "digest"})
		r.Must(err)
		_, err = c.JobsCreate(ctx, apiclient.JobDefinition{Name: "nightly", Crontabs: []string{"0 3 * * *"}, Steps: []apiclient.StepDefinition{{Name: "a", JobExec: "export", Arguments: json.RawMessage(`{"n":1}`)}}})
		r.Must(err)
		_, err = c.PausesSet(ctx, apiclient.Pausing{JobExecs: []string{"digest"}, Reason: "broken"})
		r.Must(err)
		_, err = c.RulesSet(ctx, apiclient.RuleSetting{Name: "remind", Occasion: "order.placed", JobExec: "ship", DelayMS: 60_000, Payload: json.RawMessage(`{"n":1}`)})
		r.Must(err)
		reported, err := c.RulesReport(ctx, apiclient.RuleReporting{Occasion: "order.placed", Entity: "order/1", Data: json.RawMessage(`{"a":1}`)})
		if err != nil || reported.Checks["remind"].Did != apiclient.PlacedDidInserted {
			t.Errorf("%+v, %v", reported, err)
		}
		asked := map[string]any{
			"RulesGet": apiclient.RulesGetParams{Name: "remind"}, "RulesVersions": apiclient.RulesVersionsParams{Name: "remind"}, "RulesPreview": apiclient.RulesPreviewParams{Name: "remind", DelayMS: 3_600_000},
			"RulesTry":  apiclient.RulesTryParams{Occasion: "order.placed"},
			"ChecksGet": apiclient.ChecksGetParams{Entity: "order/1", JobExec: "ship"}, "ChecksLife": apiclient.ChecksLifeParams{Entity: "order/0"},
			"SchedulesGet": apiclient.SchedulesGetParams{ID: "digest"}, "SchedulesRuns": apiclient.SchedulesRunsParams{ID: "digest"},
			"SchedulesVersions": apiclient.SchedulesVersionsParams{ID: "digest"}, "SchedulesVersion": apiclient.SchedulesVersionParams{ID: "digest", Version: 1},
			"SchedulesPreview": apiclient.SchedulesPreviewParams{Crontab: []string{"0,30 * * * *", "5 4 * * *"}, Count: 3},
			"JobsGet":          apiclient.JobsGetParams{Name: "nightly"}, "JobsVersions": apiclient.JobsVersionsParams{Name: "nightly"}, "JobsRuns": apiclient.JobsRunsParams{Name: "nightly"},
			"BulkGet": apiclient.BulkGetParams{Number: 1 << 60}, "StepsGet": apiclient.StepsGetParams{Name: "none"}, "UsersGet": apiclient.UsersGetParams{Name: "none"}, "EventsMatching": apiclient.EventsMatchingParams{All: true}, "ExecsAdvise": apiclient.ExecsAdviseParams{JobExec: "ship"},
		}
		may := map[string]apiclient.ProblemType{"BulkGet": apiclient.ProblemTypeErrNotFound, "ForecastGet": apiclient.ProblemTypeErrNone, "StepsGet": apiclient.ProblemTypeErrNotFound, "UsersGet": apiclient.ProblemTypeErrNotFound}
		methods, seen := reflect.ValueOf(c), 0
		for name, method := range methods.Methods() {
			kind := method.Type()
			if kind.IsVariadic() || kind.Out(0) == reflect.TypeFor[*http.Response]() {
				continue // deeds, and what is no JSON
			}
			seen++
			in := []reflect.Value{reflect.ValueOf(context.Context(ctx))}
			switch given, is := asked[name.Name]; {
			case is:
				in = append(in, reflect.ValueOf(given))
			case kind.NumIn() == 2:
				in = append(in, reflect.Zero(kind.In(1)))
			}
			r.strict.last = nil
			out := method.Call(in)
			if err, _ := out[1].Interface().(error); err != nil {
				if kind, is := may[name.Name]; !is || !errors.Is(err, kind) {
					t.Errorf("%s: %v", name.Name, err)
				}
				continue
			}
			d := json.NewDecoder(bytes.NewReader(r.strict.last))
			d.DisallowUnknownFields()
			if err := d.Decode(reflect.New(kind.Out(0).Elem()).Interface()); err != nil {
				t.Errorf("%s: %v in %s", name.Name, err, r.strict.last)
			}
			if slices.Contains([]string{"ChecksLife", "ChecksEnded", "AuditList", "SchedulesList", "JobsGet", "PausesList", "RulesList", "RulesVersions"}, name.Name) && bytes.Contains(r.strict.last, []byte(`"rows":[]`)) {
				t.Errorf("%s is empty: %s", name.Name, r.strict.last)
			}
		}
		if seen < 25 {
			t.Errorf("only %d methods were tried", seen)
		}
	})
}
