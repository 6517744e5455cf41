package monitoring

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"prescient/prescient/doctor"
	"prescient/prescient/gauges"
	"prescient/prescient/internal/store"
	"prescient/prescient/metrics"
	"prescient/prescient/ops/door"
)

// written are the files of an installation with slots of 15 minutes.
func written(t *testing.T, labels map[string]string) (ruleFile, dashboardFile) {
	t.Helper()
	files, err := Files(Options{Labels: labels, Doctor: doctor.Options{Resolution: 15 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	var rules ruleFile
	var board dashboardFile
	if err := yaml.Unmarshal([]byte(files[0].Text), &rules); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(files[1].Text), &board); err != nil {
		t.Fatal(err)
	}
	return rules, board
}

type dashboardFile struct {
	UID, Title string
	Panels     []struct {
		ID      int
		Title   string
		GridPos place
		Targets []struct{ Expr string }
	}
}

// asked are all expressions, by where they stand.
func asked(rules ruleFile, board dashboardFile) map[string]string {
	all := make(map[string]string)
	for _, r := range rules.Groups[0].Rules {
		all["rule "+r.Record+r.Alert] = r.Expr
	}
	for _, p := range board.Panels {
		for i, target := range p.Targets {
			all[fmt.Sprintf("panel %s, %d", p.Title, i)] = target.Expr
		}
	}
	return all
}

var (
	described  = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	metricName = regexp.MustCompile(`\bprescient[_:][a-z0-9_:]+`)
	selector   = regexp.MustCompile(`\b(prescient_[a-z0-9_]+)\{([^}]*)\}`)
	labelName  = regexp.MustCompile(`([a-z_]+)\s*[!=]`)
	grouped    = regexp.MustCompile(`by \(([^)]*)\)`)
	unfilled   = regexp.MustCompile(`<[a-z_]+>`)
	suffix     = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// known are the metrics that workers, forwarders and serve have, and their labels.
func known(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, c := range []prometheus.Collector{metrics.New(), gauges.NewDatabase(nil, &store.Tables{}, 0), door.NewCounts()} {
		to := make(chan *prometheus.Desc, 200)
		c.Describe(to)
		close(to)
		for desc := range to {
			is := described.FindStringSubmatch(desc.String())
			if is == nil {
				t.Fatal(desc)
			}
			all[is[1]] = strings.FieldsFunc(is[2], func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return all
}

// labelsOf are the labels of a metric; of a histogram's buckets le too.
func labelsOf(metrics map[string][]string, name string) ([]string, bool) {
	if labels, is := metrics[name]; is {
		return labels, true
	}
	labels, is := metrics[suffix.ReplaceAllString(name, "")]
	return append(slices.Clone(labels), "le"), is
}

func TestEachMetricThatIsNamedExists(t *testing.T) {
	metrics := known(t)
	recordings := make(map[string]bool)
	for _, r := range records {
		recordings[r.name] = true
	}
	rules, board := written(t, nil)
	shown := make(map[string]bool)
	for where, expr := range asked(rules, board) {
		if unfilled.MatchString(expr) {
			t.Errorf("%s: a bound is missing: %s", where, expr)
		}
		for _, name := range metricName.FindAllString(expr, -1) {
			shown[suffix.ReplaceAllString(name, "")], shown[name] = true, true
			if _, is := labelsOf(metrics, name); !is && !recordings[name] {
				t.Errorf("%s: there is no %s", where, name)
			}
		}
		for _, one := range selector.FindAllStringSubmatch(expr, -1) {
			has, _ := labelsOf(metrics, one[1])
			for _, label := range labelName.FindAllStringSubmatch(one[2], -1) {
				if !slices.Contains(has, label[1]) {
					t.Errorf("%s: %s has no label %s, but %s", where, one[1], label[1], has)
				}
			}
		}
		for _, by := range grouped.FindAllStringSubmatch(expr, -1) {
			name := metricName.FindString(expr[strings.Index(expr, by[0]):])
			has, _ := labelsOf(metrics, name)
			for _, label := range strings.Split(by[1], ", ") {
				if !slices.Contains(has, label) && label != "instance" {
					t.Errorf("%s: %s has no label %s, but %s", where, name, label, has)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if !shown[name] {
			t.Errorf("nothing shows %s", name)
		}
	}
}

func TestEachAlertSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	rules, _ := written(t, nil)
	names := make(map[string]bool)
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == "" {
			continue
		}
		summary, says := r.Annotations["summary"], r.Annotations["description"]
		if names[r.Alert] || summary == "" || len(says) < 80 || !strings.HasSuffix(says, ".") || r.Labels["severity"] != critical && r.Labels["severity"] != warning {
			t.Errorf("%+v", r)
		}
		names[r.Alert] = true
	}
	if n := len(names); n < 8 || n > 14 {
		t.Errorf("there are %d alerts", n)
	}
}

// With labels nothing else is looked at, and what is recorded and alerted has them.
func TestLabelsAreInEachSelectorAndOfEachRule(t *testing.T) {
	labels := map[string]string{"job": "shop", "region": `eu "west"`}
	rules, board := written(t, labels)
	const match = `job="shop", region="eu \"west\""`
	n := 0
	for where, expr := range asked(rules, board) {
		for _, at := range metricName.FindAllStringIndex(expr, -1) {
			n++
			if !strings.HasPrefix(expr[at[1]:], "{"+match) {
				t.Errorf("%s: %s", where, expr[at[0]:])
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d selectors were found", n)
	}
	for _, r := range rules.Groups[0].Rules {
		if r.Labels["job"] != "shop" || r.Labels["region"] != labels["region"] {
			t.Errorf("%s%s: %v", r.Record, r.Alert, r.Labels)
		}
	}
	if board.Title != "prescient ("+match+")" {
		t.Error(board.Title)
	}
}

// The bounds are those of the slots, of sweeps, and of doctor as it is configured.
func TestBoundsAreThoseOfTheDoctor(t *testing.T) {
	for _, test := range []struct {
		about string
		is    doctor.Options
		wants map[string]string // by alert
		lasts map[string]string
	}{
		{"the defaults", doctor.Options{Resolution: 15 * time.Minute},
			map[string]string{"PrescientOverdue": "> 1920", "PrescientCallsFail": ">= 10\nand prescient:call_errors:lately / prescient:calls:lately >= 0.1", "PrescientSlotsMissed": "> 0\n",
				"PrescientEventsWait": "> 300\n", "PrescientLongRunsWait": "> 3600", "PrescientPaused": "> 3600"},
			map[string]string{"PrescientOverdue": "1m", "PrescientSlotsMissed": "15m", "PrescientRowsLeft": "10m"}},
		{"slots of a second", doctor.Options{Resolution: time.Second},
			map[string]string{"PrescientOverdue": "> 140", "PrescientLongRunsWait": "> 900", "PrescientPaused": "> 3600", "PrescientSlotsMissed": "> 9\n"}, map[string]string{"PrescientSlotsMissed": "1m"}},
		{"slots in which calls of the one before still run", doctor.Options{Resolution: 10 * time.Second, MissedAllowed: 1}, map[string]string{"PrescientSlotsMissed": "> 4\n"}, nil},
		{"no slot that has to be served", doctor.Options{Resolution: time.Second, MissedAllowed: 20}, map[string]string{"PrescientSlotsMissed": "> 20\n"}, nil},
		{"slots of a day", doctor.Options{Resolution: 24 * time.Hour, SweepEvery: 10 * time.Minute},
			map[string]string{"PrescientOverdue": "> 174000", "PrescientPaused": "> 172800"}, map[string]string{"PrescientSlotsMissed": "24h", "PrescientOverdue": "10m", "PrescientRowsLeft": "1h"}},
		{"as it is configured", doctor.Options{Resolution: 15 * time.Minute, OverdueBad: 90 * time.Second, MissedAllowed: 2, Failing: 1, FailingCalls: 3, SweepEvery: 1500 * time.Millisecond},
			map[string]string{"PrescientOverdue": "> 90\n", "PrescientSlotsMissed": "> 2\n", "PrescientCallsFail": ">= 3\nand prescient:call_errors:lately / prescient:calls:lately >= 0.01"},
			map[string]string{"PrescientOverdue": "2s"}},
	} {
		t.Run(test.about, func(t *testing.T) {
			files, err := Files(Options{Doctor: test.is})
			if err != nil {
				t.Fatal(err)
			}
			var rules ruleFile
			if err := yaml.Unmarshal([]byte(files[0].Text), &rules); err != nil {
				t.Fatal(err)
			}
			for _, r := range rules.Groups[0].Rules {
				if want := test.wants[r.Alert]; r.Alert != "" && !strings.Contains(r.Expr+"\n", want) {
					t.Errorf("%s: %q is not in %s", r.Alert, want, r.Expr)
				}
				if want := test.lasts[r.Alert]; want != "" && r.For != want {
					t.Errorf("%s: for %s; want %s", r.Alert, r.For, want)
				}
			}
		})
	}
}

// No panel lies on another, or beside the dashboard.
func TestPanelsHavePlaces(t *testing.T) {
	_, board := written(t, nil)
	taken := make(map[[2]int]string)
	ids := make(map[int]bool)
	for _, p := range board.Panels {
		if at := p.GridPos; ids[p.ID] || at.X < 0 || at.W < 1 || at.H < 1 || at.X+at.W > width {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := taken[at]; other != "" {
					t.Fatalf("%s lies on %s", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
	}
	if len(board.Panels) < 20 || board.UID != "prescient" {
		t.Errorf("%d panels of %s", len(board.Panels), board.UID)
	}
}

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	good := doctor.Options{Resolution: time.Hour}
	for about, test := range map[string]struct {
		is   Options
		says string
	}{
		"no resolution":             {Options{}, "resolution: "},
		"a name with a path":        {Options{Name: "../x", Doctor: good}, `name "../x": only letters, digits and _ - are allowed`},
		"a name that is too long":   {Options{Name: strings.Repeat("x", 41), Doctor: good}, "40 at most"},
		"a label that is none":      {Options{Labels: map[string]string{"a-b": "x"}, Doctor: good}, `label "a-b": only letters`},
		"a label of Prometheus":     {Options{Labels: map[string]string{"__name__": "x"}, Doctor: good}, "no __"},
		"a label that a metric has": {Options{Labels: map[string]string{"job_exec": "x"}, Doctor: good}, "label job_exec: metrics and alerts have this label by themselves"},
		"a label without a value":   {Options{Labels: map[string]string{"job": ""}, Doctor: good}, "label job: value"},
		"a value that is a program": {Options{Labels: map[string]string{"job": "{{ 1 }}"}, Doctor: good}, "label job: value"},
		"a value that Grafana has":  {Options{Labels: map[string]string{"job": "a${datasource}"}, Doctor: good}, "without {{ and $"},
	} {
		if _, err := Files(test.is); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", about, err)
		}
	}
}

// Labels that metrics have by themselves are known.
func TestOwnLabelsAreThoseOfTheMetrics(t *testing.T) {
	for name, labels := range known(t) {
		for _, label := range labels {
			if !slices.Contains(ownLabels, label) {
				t.Errorf("%s has the label %s", name, label)
			}
		}
	}
}
