package rules

import (
	"errors"
	"net/url"
	"reflect"
	"testing"

	"prescient/prescient"
	"prescient/prescient/ops/ruled"
	"prescient/prescient/page/internal/front"
)

// values are what a browser sends of a form.
func (f form) values() url.Values {
	return url.Values{"name": {f.Name}, "occasion": {f.Occasion}, "job_exec": {f.JobExec}, "delay": {f.Delay}, "spread": {f.Spread}, "expires_after": {f.ExpiresAfter}, "on_pending": {f.OnPending}, "ends": {f.Ends},
		"payload": {f.Payload}, "max_checks": {f.MaxChecks}, "max_errors": {f.MaxErrors}}
}

// What a form says is what it was made of.
func TestAFormSaysTheRuleThatItWasMadeOf(t *testing.T) {
	for name, d := range map[string]ruled.Definition{
		"few fields": {Name: "remind", Occasion: "order.placed", JobExec: "ship"},
		"all fields": {Name: "remind", Occasion: "order.placed", JobExec: "ship", DelayMS: 93_784_000, SpreadMS: 60_000, ExpiresAfterMS: 90_000, OnPending: "later", Ends: []string{"order.shipped", "order.lost"},
			Payload: []byte(`{"a": [1.50, "<b>\n"]}`), MaxChecks: 3, MaxErrors: -1},
	} {
		got, err := filledIn(front.NewQuery(formOf(d).values())).definition()
		if err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, d)
		}
	}
}

func TestWhatNoFormCanSayIsRefused(t *testing.T) {
	for name, value := range map[string]string{"name": "a b", "occasion": "", "job_exec": "schedule.fire", "delay": "soon", "spread": "1d1d", "expires_after": "0.5s", "on_pending": "error", "ends": "order.placed",
		"payload": "[1]", "max_checks": "many", "max_errors": "-2"} {
		values := form{Name: "remind", Occasion: "order.placed", JobExec: "ship"}.values()
		values.Set(name, value)
		if got, err := filledIn(front.NewQuery(values)).definition(); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%s %q: %+v, %v", name, value, got, err)
		}
	}
}
