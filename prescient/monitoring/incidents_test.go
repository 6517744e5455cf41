package monitoring

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"prescient/prescient/doctor"
	"prescient/prescient/localserver"
)

// program returns a program of Prometheus as it is on PATH, or as scripts/prometheus has unpacked it.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	folders := filepath.SplitList(os.Getenv("PRESCIENT_SERVER_DIR"))
	for _, folder := range append(folders, filepath.Join(localserver.CacheDir(), "prometheus")) {
		for _, sub := range []string{"", "bin"} {
			if path, err := exec.LookPath(filepath.Join(folder, sub, name)); err == nil {
				return path
			}
		}
	}
	t.Fatalf("there is no %s on PATH or in the cache: run scripts/prometheus, or apt-get install prometheus", name)
	return ""
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if said, err := exec.CommandContext(t.Context(), program(t, "promtool"), args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
	}
}

// An hour is at peace, then something happens; an hour and a half later it is looked at.
const (
	peaceEnds = 60
	lookedAt  = 150
)

// then is a series of a value a minute: from is there in peace, then each minute has by more than the one before.
func then(from, first, by float64) string {
	return fmt.Sprintf("%v+0x%d %v+%vx%d", from, peaceEnds, first, by, lookedAt-peaceEnds-1)
}

// comes is a series that is not there in peace.
func comes(first, by float64) string {
	return fmt.Sprintf("_x%d %v+%vx%d", peaceEnds+1, first, by, lookedAt-peaceEnds-1)
}

// still is a value that stays.
func still(v float64) string { return fmt.Sprintf("%v+0x%d", v, lookedAt) }

// grows is a counter that counts so much a minute, from the start.
func grows(by float64) string { return fmt.Sprintf("0+%vx%d", by, lookedAt) }

// gone is what nobody tells of any more once peace is over.
func gone(v float64) string { return fmt.Sprintf("%v+0x%d", v, peaceEnds) }

// The processes that are scraped. What the database tells each of them has.
var (
	workers = []string{"w1:9464", "w2:9464"}
	server  = "serve:8080"
)

// peace is what is scraped while all is well: of the database by all, of workers by these, of what serve alone knows by serve.
func peace() map[string]string {
	all := make(map[string]string)
	for _, from := range append(workers, server) {
		for name, v := range map[string]float64{"database_up{}": 1, "backlog_age_seconds{}": 40, "forecast_over_seconds{}": 0, "outbox_age_seconds{topic='mail'}": 2, "outbox_events{topic='mail'}": 3,
			"agents{kind='work',state='live'}": 2, "agents{kind='work',state='dead'}": 0, "agents{kind='run',state='live'}": 1, "agents{kind='run',state='dead'}": 0,
			"long_runs_waiting_seconds{pool='heavy'}": 10} {
			all[at(name, from)] = still(v)
		}
	}
	for _, from := range workers {
		for name, by := range map[string]float64{"locked_total{}": 0, "stuck_total{}": 0, "run_seconds_count{job_exec='charge'}": 10, "call_errors_total{job_exec='charge'}": 0.05,
			"run_seconds_count{job_exec='schedule.fire'}": 1, "call_errors_total{job_exec='schedule.fire'}": 0, "moved_total{job_exec='charge',why='unregistered'}": 0,
			"moved_total{job_exec='other',why='unregistered'}": 0, "moved_total{job_exec='charge',why='error'}": 0.05, "events_set_aside_total{topic='mail'}": 0} {
			all[at(name, from)] = grows(by)
		}
	}
	for name, v := range map[string]float64{"overdue_checks{}": 0, "last_slots_unfinished{}": 0, "pauses{}": 0, "set_aside_events{}": 0, "lately_calls{job_exec='charge'}": 1200, "lately_call_errors{job_exec='charge'}": 6,
		"lately_calls{job_exec='schedule.fire'}": 120, "lately_call_errors{job_exec='schedule.fire'}": 0} {
		all[at(name, server)] = still(v)
	}
	for _, why := range []string{"rate", "token", "place"} {
		all[at("serve_refused_total{why='"+why+"'}", server)] = still(0)
	}
	all[at("serve_connections_closed_total{}", server)] = still(0)
	return all
}

// at names a series as a process is scraped.
func at(name, instance string) string {
	name = strings.ReplaceAll(name, "'", `"`)
	return "prescient_" + strings.NewReplacer("{}", `{instance="`+instance+`"}`, "{", `{instance="`+instance+`",`).Replace(name)
}

// told is what all processes tell of the database.
func told(name, values string) map[string]string {
	all := make(map[string]string)
	for _, from := range append(workers, server) {
		all[at(name, from)] = values
	}
	return all
}

// by is what one process tells.
func by(instance, name, values string) map[string]string {
	return map[string]string{at(name, instance): values}
}

func together(parts ...map[string]string) map[string]string {
	all := make(map[string]string)
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// incident is something that goes wrong, and the one alert that fires.
type incident struct {
	name, alert string
	labels      map[string]string
	changes     map[string]string
	only        []string // the processes that are scraped; all by default
}

// badNight are those of the bad night that is staged for other tests: each of its incidents has its alert.
var badNight = []incident{
	{"a job_exec that fails", "PrescientCallsFail", map[string]string{"job_exec": "charge"},
		together(by(server, "lately_call_errors{job_exec='charge'}", then(6, 400, 0)), by(workers[0], "call_errors_total{job_exec='charge'}", then(0, 5, 5))), nil},
	{"a misspelt job_exec", "PrescientUnregistered", map[string]string{"job_exec": "chrage"},
		together(by(server, "lately_unregistered{job_exec='chrage'}", comes(7, 0)),
			by(workers[0], "moved_total{job_exec='chrage',why='unregistered'}", comes(7, 0))), nil},
	{"a worker that was killed", "PrescientAgentDied", map[string]string{"kind": "work"},
		together(told("agents{kind='work',state='live'}", then(2, 1, 0)), told("agents{kind='work',state='dead'}", then(0, 1, 0))), nil},
	{"a timer that died", "PrescientAgentDied", map[string]string{"kind": "run"},
		together(told("agents{kind='run',state='live'}", then(1, 0, 0)), told("agents{kind='run',state='dead'}", then(0, 1, 0)), by(server, "last_slots_unfinished{}", then(0, 4, 0))), nil},
	{"a forgotten pause", "PrescientPaused", map[string]string{"job_exec": "remind"},
		together(by(server, "pauses{}", then(0, 1, 0)), by(server, "paused_seconds{job_exec='remind'}", comes(60, 60))), nil},
	{"a backlog", "PrescientOverdue", nil,
		together(told("backlog_age_seconds{}", then(40, 1000, 60)), by(server, "overdue_checks{}", then(0, 601, 0))), nil},
	{"a locked row", "PrescientRowsLeft", nil,
		together(told("backlog_age_seconds{}", then(40, 1000, 60)), by(server, "overdue_checks{}", then(0, 1, 0)), by(workers[0], "locked_total{}", then(0, 1, 1))), nil},
	{"a bad crontab", "PrescientScheduleFails", nil,
		together(by(server, "lately_call_errors{job_exec='schedule.fire'}", then(0, 4, 0)), by(workers[0], "call_errors_total{job_exec='schedule.fire'}", then(0, 1, 0.07))), nil},
	{"a slot that is too full", "PrescientSlotTooFull", nil, told("forecast_over_seconds{}", then(0, 300, 0)), nil},
	{"a refused event", "PrescientEventsRefused", nil,
		together(by(server, "set_aside_events{}", then(0, 1, 0)), by(workers[0], "events_set_aside_total{topic='mail'}", then(0, 1, 0))), nil},
}

// otherDays are what else goes wrong, or is told in another way.
var otherDays = []incident{
	{"nobody is scraped", "PrescientUnseen", nil, nobody(), nil},
	{"the database does not answer", "PrescientUnseen", nil, together(nobody(), told("database_up{}", then(1, 0, 0))), nil},
	{"serve is not scraped any more", "PrescientUnseen", nil, vanishes(server), nil},
	{"a database that answers nobody, while serve tells of nothing", "PrescientUnseen", nil, together(vanishes(server), told("database_up{}", then(1, 0, 0))), nil},
	{"a worker in the place of another", "", nil, together(vanishes(workers[0]), by("w3:9464", "run_seconds_count{job_exec='charge'}", comes(0, 10)), by("w3:9464", "database_up{}", comes(1, 0)),
		by("w3:9464", "moved_total{job_exec='charge',why='unregistered'}", comes(0, 0)), by("w3:9464", "call_errors_total{job_exec='charge'}", comes(0, 0.05))), nil},
	{"a worker whose counters begin anew", "", nil, by(workers[0], "run_seconds_count{job_exec='charge'}", "1000+10x60 0+10x89"), nil},
	{"slots that nobody serves", "PrescientSlotsMissed", nil, by(server, "last_slots_unfinished{}", then(0, 3, 0)), nil},
	{"a broker that does not answer", "PrescientEventsWait", map[string]string{"topic": "mail"}, told("outbox_age_seconds{topic='mail'}", then(2, 60, 60)), nil},
	{"long runs without a place", "PrescientLongRunsWait", map[string]string{"pool": "heavy"}, told("long_runs_waiting_seconds{pool='heavy'}", then(10, 60, 60)), nil},
	{"somebody who asks without end", "PrescientServeRefuses", map[string]string{"why": "rate"}, by(server, "serve_refused_total{why='rate'}", then(0, 100, 100)), nil},
	{"rows of which nothing can be written", "PrescientRowsLeft", nil, by(workers[1], "stuck_total{}", then(0, 2, 2)), nil},
	{"everything is paused", "PrescientPaused", map[string]string{"job_exec": "*"},
		together(by(server, "paused_seconds{job_exec='*'}", comes(60, 60)), told("backlog_age_seconds{}", then(40, 1000, 60)),
			by(server, "overdue_checks{}", then(0, 100, 1)), by(server, "last_slots_unfinished{}", then(0, 6, 0)), told("outbox_age_seconds{topic='mail'}", then(2, 60, 60))), nil},
	{"a job_exec that fails, of workers alone", "PrescientCallsFail", map[string]string{"job_exec": "charge"}, by(workers[0], "call_errors_total{job_exec='charge'}", then(0, 5, 5)), workers},
	{"a misspelt job_exec, of workers alone", "PrescientUnregistered", map[string]string{"job_exec": "chrage"},
		by(workers[0], "moved_total{job_exec='chrage',why='unregistered'}", "_x111 7+0x39"), workers},
	{"a misspelt job_exec in its second slot, of workers alone", "PrescientUnregistered", map[string]string{"job_exec": "chrage"},
		by(workers[0], "moved_total{job_exec='chrage',why='unregistered'}", "_x61 7+0x40 14+0x48"), workers},
	{"an event that is refused once, of workers alone", "PrescientEventsRefused", nil, by(workers[1], "events_set_aside_total{topic='mail'}", "0+0x129 1+0x20"), workers},
	{"a backlog, of timers", "PrescientOverdue", nil, together(told("backlog_age_seconds{}", then(40, 1000, 60)), by(server, "overdue_checks{}", then(0, 601, 0))), []string{server}},
	{"a locked row, of timers", "PrescientOverdue", nil, together(told("backlog_age_seconds{}", then(40, 1000, 60)), by(server, "overdue_checks{}", then(0, 1, 0))), []string{server}},
	{"a transaction of an app that ends soon", "", nil, by(workers[0], "locked_total{}", "0+0x139 1+0x2 2+0x7"), nil},
	{"an agent that may be back at once", "", nil, told("agents{kind='work',state='dead'}", "0+0x148 1+0x1"), nil},
}

// nobody is that nobody tells anything any more.
func nobody() map[string]string {
	all := peace()
	for name := range all {
		all[name] = gone(0)
	}
	return together(all, told("database_up{}", gone(1)))
}

// vanishes is that nobody scrapes a process any more.
func vanishes(instance string) map[string]string {
	all := peace()
	maps.DeleteFunc(all, func(name, _ string) bool { return !strings.Contains(name, `"`+instance+`"`) })
	for name, values := range all {
		first, _, _ := strings.Cut(values, "x")
		all[name] = fmt.Sprintf("%sx%d", first, peaceEnds)
	}
	return all
}

// What promtool reads.
type (
	ruleTests struct {
		RuleFiles []string   `yaml:"rule_files"`
		Every     string     `yaml:"evaluation_interval"`
		Tests     []ruleTest `yaml:"tests"`
	}
	ruleTest struct {
		Name     string `yaml:"name"`
		Interval string `yaml:"interval"`
		Series   []struct {
			Series string `yaml:"series"`
			Values string `yaml:"values"`
		} `yaml:"input_series"`
		Alerts []alertTest `yaml:"alert_rule_test"`
	}
	alertTest struct {
		At       string     `yaml:"eval_time"`
		Alert    string     `yaml:"alertname"`
		Expected []expected `yaml:"exp_alerts"`
	}
	expected struct {
		Labels map[string]string `yaml:"exp_labels"`
	}
)

// testOf wants these alerts and no others, and none in the hour of peace.
func testOf(rules ruleFile, name string, series map[string]string, fire ...incident) ruleTest {
	test := ruleTest{Name: name, Interval: "1m"}
	for _, one := range slices.Sorted(maps.Keys(series)) {
		test.Series = append(test.Series, struct {
			Series string `yaml:"series"`
			Values string `yaml:"values"`
		}{one, series[one]})
	}
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == "" {
			continue
		}
		for minute := 15; minute <= peaceEnds; minute += 15 {
			test.Alerts = append(test.Alerts, alertTest{fmt.Sprintf("%dm", minute), r.Alert, nil})
		}
		last := alertTest{fmt.Sprintf("%dm", lookedAt), r.Alert, nil}
		for _, one := range fire {
			if one.alert == r.Alert {
				last.Expected = append(last.Expected, expected{together(r.Labels, one.labels)})
			}
		}
		test.Alerts = append(test.Alerts, last)
	}
	return test
}

// series are what the processes tell that are scraped.
func (i incident) series() map[string]string {
	all := together(peace(), i.changes)
	if i.only != nil {
		maps.DeleteFunc(all, func(name, _ string) bool {
			return !slices.ContainsFunc(i.only, func(one string) bool { return strings.Contains(name, `"`+one+`"`) })
		})
	}
	return all
}

// Each incident of the bad night fires one alert, all together fire each of theirs, and an hour of peace fires none.
func TestEachIncidentFiresOneAlert(t *testing.T) {
	rules, _ := written(t, nil)
	var tests []ruleTest
	tested := make(map[string]bool)
	night := peace()
	for _, one := range slices.Concat(badNight, otherDays) {
		tests = append(tests, testOf(rules, one.name, one.series(), one))
		tested[one.alert] = true
	}
	for _, one := range badNight {
		night = together(night, one.changes)
	}
	// Both a backlog and a locked row are there, and both agents are gone.
	night = together(night, by(server, "overdue_checks{}", then(0, 601, 0)))
	tests = append(tests, testOf(rules, "the whole bad night", night, badNight...), testOf(rules, "peace", peace()))
	for _, r := range rules.Groups[0].Rules {
		if r.Alert != "" && !tested[r.Alert] {
			t.Errorf("no incident fires %s", r.Alert)
		}
	}
	testRules(t, rules, tests)
}

// An installation may have neither events nor long runs nor schedules.
func TestWhatAnInstallationHasNotFiresNothing(t *testing.T) {
	rules, _ := written(t, nil)
	series := peace()
	maps.DeleteFunc(series, func(name, _ string) bool {
		return strings.Contains(name, "_outbox_") || strings.Contains(name, "_long_runs_") || strings.Contains(name, "schedule.fire") || strings.Contains(name, "_events_")
	})
	testRules(t, rules, []ruleTest{testOf(rules, "only checks", series)})
}

// Prometheus was away for a while. What was counted before that is not new when the time that is looked back at begins in the gap.
func TestWhatWasCountedLongAgoIsNotNewAfterAGap(t *testing.T) {
	rules, _ := written(t, nil)
	series := peace()
	for name := range series {
		first, _, _ := strings.Cut(series[name], "+")
		series[name] = fmt.Sprintf("%[1]s+0x70 _x10 %[1]s+0x120", first)
	}
	series[at("moved_total{job_exec='charge',why='unregistered'}", workers[0])] = "7+0x70 _x10 7+0x120"
	test := testOf(rules, "a gap", series)
	test.Alerts = slices.DeleteFunc(test.Alerts, func(a alertTest) bool { return a.At != fmt.Sprintf("%dm", lookedAt) })
	for minute := 126; minute <= 140; minute += 2 {
		test.Alerts = append(test.Alerts, alertTest{fmt.Sprintf("%dm", minute), "PrescientUnregistered", nil})
	}
	testRules(t, rules, []ruleTest{test})
}

// Another installation in the same Prometheus may have its bad night.
func TestTheNightOfAnotherInstallationIsItsOwn(t *testing.T) {
	rules, _ := written(t, map[string]string{"job": "shop"})
	series := make(map[string]string)
	of := func(job string, all map[string]string) {
		for name, values := range all {
			series[strings.Replace(name, "{", `{job="`+job+`",`, 1)] = values
		}
	}
	night := peace()
	for _, one := range badNight {
		night = together(night, one.changes)
	}
	of("other", night)
	of("shop", badNight[0].series())
	tests := []ruleTest{testOf(rules, "the night of another", series, badNight[0])}
	for _, one := range otherDays[:4] { // of which nothing is told
		series = make(map[string]string)
		of("other", peace())
		of("shop", one.series())
		tests = append(tests, testOf(rules, one.name+", beside another", series, one))
	}
	testRules(t, rules, tests)
}

// testRules has promtool test rules, without their texts, which a running Prometheus is to fill in.
func testRules(t *testing.T, rules ruleFile, tests []ruleTest) {
	t.Helper()
	dir := t.TempDir()
	for i := range rules.Groups[0].Rules {
		rules.Groups[0].Rules[i].Annotations = nil
	}
	for name, content := range map[string]any{"rules.yaml": rules, "tests.yaml": ruleTests{[]string{"rules.yaml"}, "1m", tests}} {
		text, err := yaml.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	promtool(t, "test", "rules", filepath.Join(dir, "tests.yaml"))
}

func TestPromtoolTakesTheRules(t *testing.T) {
	for _, labels := range []map[string]string{nil, {"job": "shop", "region": `eu "west"`}} {
		files, err := Files(Options{Labels: labels, Doctor: doctor.Options{Resolution: 90 * time.Minute, SweepEvery: 90 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), files[0].Name)
		if err := os.WriteFile(path, []byte(files[0].Text), 0o600); err != nil {
			t.Fatal(err)
		}
		promtool(t, "check", "rules", path)
	}
}
