package ops_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/ruled"
	"prescient/prescient/rulebook"
)

var remind = ruled.Definition{Name: "remind", Occasion: "order.placed", JobExec: "send-reminder", DelayMS: 3 * time.Hour.Milliseconds(), SpreadMS: 60_000, ExpiresAfterMS: 3_600_000, OnPending: "later",
	Ends: []string{"order.shipped"}, Payload: json.RawMessage(`{"tone": "kind"}`), MaxChecks: 3, MaxErrors: -1}

func TestARulesLife(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		ctx, o, by, viewer := t.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), served.By(ops.Viewer)
		by.Reason = "customers asked"
		named := ruled.Named{Name: "remind"}
		set := func(want ruled.Set, in ruled.Setting) {
			t.Helper()
			if did, err := ops.SetRule.Do(ctx, o, by, in); err != nil || did != want {
				t.Errorf("%+v, %v; want %+v", did, err, want)
			}
		}
		set(ruled.Set{Changed: true, Version: 1}, ruled.Setting{Definition: remind, New: true})
		set(ruled.Set{Version: 1}, ruled.Setting{Definition: remind, Version: 1})
		if _, err := ops.SetRule.Do(ctx, o, by, ruled.Setting{Definition: remind, New: true}); !errors.Is(err, rulebook.ErrExists) {
			t.Error(err)
		}
		for _, role := range ops.Roles {
			got, err := ops.GetRule.Do(ctx, o, served.By(role), named)
			r.Must(err)
			want := remind
			if !role.May(ops.Operator) {
				want.Payload = nil
			}
			if !reflect.DeepEqual(got.Definition, want) || got.State != "on" || got.Version != 1 || got.Walk.Behind {
				t.Errorf("%s: %+v; want %+v", role, got, want)
			}
			versions, err := ops.ListRuleVersions.Do(ctx, o, served.By(role), ruled.VersionsAsked{Named: named, Limit: 10})
			r.Must(err)
			if len(versions.Rows) != 1 || (versions.Rows[0].Payload != nil) != role.May(ops.Operator) {
				t.Errorf("%s: %+v", role, versions)
			}
		}
		reported, err := ops.ReportOccasion.Do(ctx, o, by, ruled.Reporting{Occasion: "order.placed", Entity: "order/42", Data: json.RawMessage(`{"customer": 7}`)})
		r.Must(err)
		if one := reported.Checks["remind"]; one.Did != "inserted" || one.DueAt.Before(rig.At("13:00")) {
			t.Errorf("%+v", reported)
		}
		tried, err := ops.TryRule.Do(ctx, o, by, ruled.Tried{Occasion: "order.placed", DelayMS: 1000, From: rig.At("10:00").Add(-time.Hour), Before: rig.At("10:00").Add(time.Hour)})
		r.Must(err)
		if tried.Witness != "remind" || tried.Occasions != 1 || !tried.Whole {
			t.Errorf("%+v", tried)
		}
		preview := func(in ruled.Previewed) rulebook.Preview {
			t.Helper()
			in.Named = named
			p, err := ops.PreviewRule.Do(ctx, o, by, in)
			r.Must(err)
			return p
		}
		if p := preview(ruled.Previewed{DelayMS: 4 * time.Hour.Milliseconds()}); p.Moves != 1 || !p.Whole || len(p.Samples) != 1 || p.Samples[0].Entity != "order/42" || p.Samples[0].To.Before(rig.At("14:00")) {
			t.Errorf("%+v", p)
		}
		if p := preview(ruled.Previewed{End: true}); p.Ends != 1 || p.Moves != 0 || len(p.Samples) != 1 || !p.Samples[0].To.IsZero() {
			t.Errorf("%+v", p)
		}
		later := remind
		later.DelayMS = 4 * time.Hour.Milliseconds()
		set(ruled.Set{Changed: true, Version: 2}, ruled.Setting{Definition: later, Version: 1})
		if _, err := ops.SetRule.Do(ctx, o, by, ruled.Setting{Definition: remind, Version: 1}); !errors.Is(err, rulebook.ErrStale) {
			t.Error(err)
		}
		list, err := ops.ListRules.Do(ctx, o, viewer, ops.RulesAsked{Search: "SHIPPED", Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		if len(list.Rows) != 1 || !list.Rows[0].Walk.Behind || list.Rows[0].Payload != nil {
			t.Errorf("%+v", list)
		}
		for _, want := range []bool{true, false} {
			if did, err := ops.PauseRule.Do(ctx, o, by, ruled.Switching{Named: named, End: true}); err != nil || did.Changed != want {
				t.Errorf("%+v, %v", did, err)
			}
		}
		for _, want := range []bool{true, false} {
			if did, err := ops.ResumeRule.Do(ctx, o, by, named); err != nil || did.Changed != want {
				t.Errorf("%+v, %v", did, err)
			}
		}
		_, err = ops.DeleteRule.Do(ctx, o, by, ruled.Switching{Named: named})
		r.Must(err)
		if _, err := ops.GetRule.Do(ctx, o, viewer, named); !errors.Is(err, rulebook.ErrNotFound) {
			t.Error(err)
		}
		entries, err := ops.ListAudit.Do(ctx, o, by, ops.AuditAsked{Kind: "rule", ID: "remind", Paging: ops.Paging{Limit: 100}})
		r.Must(err)
		var verbs []string
		for _, e := range entries.Rows {
			if verbs = append(verbs, e.Verb); e.Person != "operator" || e.Reason != "customers asked" {
				t.Errorf("%+v", e)
			}
		}
		slices.Sort(verbs) // the clock stands still
		if want := []string{"create", "delete", "pause", "resume", "update"}; !reflect.DeepEqual(verbs, want) {
			t.Errorf("%q; want %q: each once", verbs, want)
		}
		set(ruled.Set{Changed: true, Version: 6}, ruled.Setting{Definition: remind, New: true})
	})
}

func TestOneOfManyMakesARule(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		errs := make([]error, 6)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				d := remind
				d.DelayMS = int64(i+1) * 3_600_000
				errs[i] = second(ops.SetRule.Do(t.Context(), r.Ops, served.By(ops.Operator), ruled.Setting{Definition: d, New: true}))
			})
		}
		all.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else if !errors.Is(err, rulebook.ErrExists) && !client.BeginAgain(err) {
				t.Error(err)
			}
		}
		if n := r.Count("SELECT version FROM p_rule"); made != 1 || n != 1 {
			t.Errorf("%d have made version %d: %v", made, n, errs)
		}
	})
}

func TestWhatNoRuleCanSayIsRefused(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		ctx, by := t.Context(), served.By(ops.Operator)
		half, array := remind, remind
		half.DelayMS, array.Payload = 500, json.RawMessage(`[1]`)
		for what, err := range map[string]error{
			"half a second": second(ops.SetRule.Do(ctx, r.Ops, by, ruled.Setting{Definition: half})),
			"an array":      second(ops.SetRule.Do(ctx, r.Ops, by, ruled.Setting{Definition: array})),
			"an older":      second(ops.SetRule.Do(ctx, r.Ops, by, ruled.Setting{Definition: remind, Older: "end"})),
			"a preview":     second(ops.PreviewRule.Do(ctx, r.Ops, by, ruled.Previewed{Named: ruled.Named{Name: "?"}})),
			"an entity":     second(ops.ReportOccasion.Do(ctx, r.Ops, by, ruled.Reporting{Occasion: "placed", Entity: "order"})),
			"data":          second(ops.ReportOccasion.Do(ctx, r.Ops, by, ruled.Reporting{Occasion: "placed", Entity: "order/1", Data: json.RawMessage(`7`)})),
			"a time":        second(ops.TryRule.Do(ctx, r.Ops, by, ruled.Tried{Occasion: "placed", From: rig.At("10:00"), Before: rig.At("09:00")})),
		} {
			if !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for what, err := range map[string]error{
			"see":    second(ops.PreviewRule.Do(ctx, r.Ops, served.By(ops.Viewer), ruled.Previewed{})),
			"change": second(ops.SetRule.Do(ctx, r.Ops, served.By(ops.Viewer), ruled.Setting{Definition: remind})),
			"report": second(ops.ReportOccasion.Do(ctx, r.Ops, served.By(ops.Viewer), ruled.Reporting{})),
		} {
			if !errors.Is(err, ops.ErrForbidden) {
				t.Errorf("a viewer may %s: %v", what, err)
			}
		}
	})
}
