package apart_test

import (
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/apart"
)

// A run that failed waits for its next try, which goes by the definition that there is by then.
func TestARunThatIsTriedAgainEndsByTheDefinitionThatThereIsByThen(t *testing.T) {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	four, two := apart.Terms{Quota: 4 * time.Second, Next: at(12)}, apart.Terms{Quota: 2 * time.Second, Next: at(4)}
	for _, c := range []struct {
		about   string
		outcome string
		ends    apart.Terms
		want    []string
	}{
		{"its quota, as it was", "quota", four, []string{"quota"}},
		{"another, which is used up", "quota", two, nil},
		{"a next occurrence that is far", "failed", four, []string{"retry"}},
		{"another, which comes before the next try", "failed", two, nil},
	} {
		var found []string
		rules := apart.Rules{Resolution: time.Second, Lease: time.Minute, MaxErrors: 5, Find: func(rule string, _ *apart.Run, _ string, _ ...any) { found = append(found, rule) }}
		rules.Judge([]*apart.Run{{Due: at(0), Slot: at(0), Outcome: c.outcome, Ended: at(2.5), Terms: four, Goes: four, Ends: c.ends,
			Calls: []apart.Call{{Worker: "w", At: at(0.1), First: at(0.1), Told: true, Failed: true}}}})
		if !slices.Equal(found, c.want) {
			t.Errorf("%s: found %q; want %q", c.about, found, c.want)
		}
	}
}
