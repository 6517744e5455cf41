package monitoring

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/stats"
	"prescient/slots"
)

// Options are for Files; zero fields mean the defaults.
type Options struct {
	// Name is what the files, the group of rules and the dashboard are called; prescient by default.
	Name string
	// Labels are those that Prometheus gives the series of this installation, where it has others too: rules and panels look at nothing else,
	// and alerts have these labels.
	Labels map[string]string
	// Program is what the commands begin with that an alert names; prescient by default.
	Program string
	// Doctor has the bounds, and Resolution that of the slots, which is wanted.
	Doctor doctor.Options
}

// File is a file that is to be written.
type File struct{ Name, Text string }

// Files are the rules and the dashboard. The error wraps prescient.ErrInvalid and names the option.
func Files(o Options) ([]File, error) {
	p, err := plan(o)
	if err != nil {
		return nil, err
	}
	rules, err := p.rules()
	if err != nil {
		return nil, err
	}
	dashboard, err := p.dashboard()
	if err != nil {
		return nil, err
	}
	return []File{{p.name + "-rules.yaml", rules}, {p.name + "-dashboard.json", dashboard}}, nil
}

var (
	nameAllowed  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`) // as Grafana takes it for an id
	labelAllowed = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// ownLabels are those that metrics and alerts have by themselves.
var ownLabels = []string{"alertname", "job_exec", "kind", "le", "outcome", "pool", "result", "severity", "state", "topic", "why", "within"}

// ValidName refuses what cannot be the name of the files.
func ValidName(name string) error {
	if !nameAllowed.MatchString(name) {
		return fmt.Errorf("%w: name %.80q: only letters, digits and _ - are allowed, 40 at most", prescient.ErrInvalid, name)
	}
	return nil
}

// ValidLabel refuses what no label of the series of an installation can be.
func ValidLabel(name, value string) error {
	switch {
	case !labelAllowed.MatchString(name) || strings.HasPrefix(name, "__"):
		return fmt.Errorf("%w: label %.80q: only letters, digits and _ are allowed, no digit first, and no __; 64 at most", prescient.ErrInvalid, name)
	case slices.Contains(ownLabels, name):
		return fmt.Errorf("%w: label %s: metrics and alerts have this label by themselves; give another", prescient.ErrInvalid, name)
	case value == "" || len(value) > 200 || !utf8.ValidString(value) || strings.Contains(value, "{{") || strings.Contains(value, "$"):
		return fmt.Errorf("%w: label %s: value %.80q: want 1 to 200 bytes of UTF-8 without {{ and $, which Prometheus and Grafana fill in", prescient.ErrInvalid, name, value)
	}
	return nil
}

// planned is what rules and panels are made of.
type planned struct {
	name   string
	labels map[string]string
	match  string            // the matchers of each series, as job="shop"; empty for none
	words  *strings.Replacer // what stands in <> in rules and panels
}

func plan(o Options) (planned, error) {
	p := planned{name: cmp.Or(o.Name, "prescient"), labels: o.Labels}
	if err := ValidName(p.name); err != nil {
		return p, err
	}
	var match []string
	for _, name := range slices.Sorted(maps.Keys(o.Labels)) {
		if err := ValidLabel(name, o.Labels[name]); err != nil {
			return p, err
		}
		match = append(match, name+"="+strconv.Quote(o.Labels[name]))
	}
	p.match = strings.Join(match, ", ")
	grid, err := slots.NewGrid(o.Doctor.Resolution)
	if err != nil {
		return p, fmt.Errorf("%w: resolution: %w", prescient.ErrInvalid, err)
	}
	p.words = strings.NewReplacer(words(o, grid)...)
	return p, nil
}

// longPause is from when on a pause looks forgotten: deployments and repairs take less; a slot is too short to tell by.
const longPause = time.Hour

// lookedAtSlots is how many slots the gauge of missed ones looks at. Those within the time that calls may take may still run: of short ones that is most.
const lookedAtSlots = 10

// words are the bounds as they stand in rules: a duration, and in seconds. Those of the doctor are its own.
func words(o Options, grid slots.Grid) []string {
	d, resolution := o.Doctor, grid.Resolution()
	d.SweepGrace = cmp.Or(d.SweepGrace, prescient.DefaultSweepGrace)
	d.SweepEvery = cmp.Or(d.SweepEvery, prescient.DefaultSweepEvery)
	list := []string{
		"<program>", cmp.Or(o.Program, "prescient"),
		"<timer>", reserved.TimerExec,
		"<missed>", strconv.Itoa(max(d.MissedAllowed, min(d.MissedAllowed+int(prescient.DefaultGuards().Timeout/resolution), lookedAtSlots-1))),
		"<failing>", strconv.FormatFloat(float64(cmp.Or(d.Failing, doctor.DefaultFailing))/100, 'f', -1, 64),
		"<failing_calls>", strconv.Itoa(cmp.Or(d.FailingCalls, doctor.DefaultFailingCalls)),
	}
	for _, bound := range []struct {
		name string
		is   time.Duration
	}{
		{"served", max(time.Minute, resolution)},
		{"sweep", d.SweepEvery},
		{"overdue", d.BadFrom(resolution)},
		{"lately", stats.LatelyFor(grid)},
		{"some_sweeps", max(5*time.Minute, 3*d.SweepEvery)}, // some are in it, however late they are scraped
		{"more_sweeps", 2 * max(5*time.Minute, 3*d.SweepEvery)},
		{"pause", max(longPause, 2*resolution)},
		{"old", doctor.OldEvent},
		{"wait", doctor.LongWait(resolution)},
	} {
		whole := (bound.is + time.Second - 1).Truncate(time.Second) // Prometheus takes no fractions
		list = append(list, "<"+bound.name+">", slots.Short(whole), "<"+bound.name+"_seconds>", strconv.FormatInt(int64(whole/time.Second), 10))
	}
	return list
}

// series are the names of metrics, and of what rules record, in an expression.
var series = regexp.MustCompile(`\bprescient[_:][a-z0-9_:]+\{?`)

// query is an expression with its bounds, about the series of this installation alone.
func (p planned) query(expr string) string {
	expr = p.words.Replace(expr)
	if p.match == "" {
		return expr
	}
	return series.ReplaceAllStringFunc(expr, func(name string) string {
		if of, is := strings.CutSuffix(name, "{"); is {
			return of + "{" + p.match + ", "
		}
		return name + "{" + p.match + "}"
	})
}
