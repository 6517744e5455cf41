package monitoring

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/doctor"
	"prescient/prescient/event"
	"prescient/prescient/gauges"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/night"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/metrics"
	"prescient/prescient/ops/door"
	"prescient/prescient/worker"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// Every rule and panel is asked of a Prometheus that scrapes a worker and a database in the bad night, on each flavour: it knows all of the
// queries, none finds nothing, and what the database shows of the night is an alert whose text is filled in.
func TestPrometheusAnswersEachQueryOfTheBadNight(t *testing.T) {
	scraped := map[string]string{"others": scrape(others{}, door.NewCounts())}
	var mu sync.Mutex
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		text := scrapeNight(whole.New(t, d, 15*time.Minute))
		mu.Lock()
		defer mu.Unlock()
		scraped[string(d.Flavour)] = text
	})
	if t.Failed() {
		return
	}
	p := startPrometheus(t, scraped)
	wanted := []string{"PrescientAgentDied run", "PrescientAgentDied work", "PrescientCallsFail charge", "PrescientEventsRefused ", "PrescientOverdue ", "PrescientScheduleFails ",
		"PrescientSlotTooFull ", "PrescientUnregistered chrage",
		"PrescientUnregistered charge", "PrescientUnregistered schedule.fire"} // which the worker that is scraped has not
	var active []string
	p.eventually("the alerts of the night", func() bool {
		active = p.alerts()
		return !slices.ContainsFunc(wanted, func(one string) bool { return !slices.Contains(active, one) })
	}, func() string { return fmt.Sprintf("%q", active) })
	for _, one := range active {
		if !slices.Contains(wanted, one) {
			t.Errorf("%s is told of, too", one)
		}
	}
	p.eventually("a few scrapes", func() bool {
		n, err := p.ask("min(count_over_time(up[1m])) >= 3")
		return err == nil && n == 1
	}, func() string { return "" })
	rules, board := written(t, nil)
	for where, expr := range asked(rules, board) {
		n, err := p.ask(strings.ReplaceAll(expr, "$__rate_interval", "10s"))
		if err != nil {
			t.Errorf("%s: %v: %s", where, err, expr)
		} else if n == 0 && !strings.HasPrefix(where, "rule Prescient") {
			t.Errorf("%s finds nothing: %s", where, expr)
		}
	}
}

// scrapeNight is what Prometheus is told of the bad night: by a worker that meets the locked row, and of the database.
func scrapeNight(r *whole.Rig) string {
	night.Stage(r)
	r.Hold("DELETE FROM p_future_job WHERE next_check_at = '2026-11-20 12:15:00'")
	r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-20 00:00:00'") // else no slot of that night counts
	registry := rig.Registry("good", rig.NothingToDo, prescient.Guards{})
	told := metrics.New()
	told.Forwarder([]string{"mail"})
	_, err := r.Worker(rig.At("13:20"), registry, worker.Options{Name: "w2", Observer: told.Worker([]string{"good"})}).Sweep(r.T.Context())
	r.Must(err)
	text := scrape(told, gauges.NewDatabase(r.As("serve-viewer", rig.At("13:20")), r.Tables(), 0))
	for _, want := range []string{"prescient_locked_total 1\n", "prescient_overdue_checks 1\n", `prescient_paused_seconds{job_exec="remind"} 1800` + "\n", `prescient_agents{kind="run",state="dead"} 1` + "\n"} {
		if !strings.Contains(text, want) {
			r.T.Errorf("no %q in\n%s", want, text)
		}
	}
	return text
}

func scrape(of ...prometheus.Collector) string {
	var all prometheus.Gatherers
	for _, one := range of { // of several processes
		registry := prometheus.NewRegistry()
		registry.MustRegister(one)
		all = append(all, registry)
	}
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	return answer.Body.String()
}

// others tells what the bad night has none of: events that wait, long runs, a worker that is busy.
type others struct{}

// Describe implements prometheus.Collector.
func (others) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (others) Collect(to chan<- prometheus.Metric) {
	gauges.SendOutbox(to, []event.Waiting{{Topic: "mail", Events: 3, Age: time.Second}})
	gauges.SendAgents(to, gauges.WorkingOf(nil, []agent.Pool{{Name: "heavy", Running: 1, Waiting: 2, Oldest: time.Minute}}))
	to <- prometheus.MustNewConstMetric(prometheus.NewDesc("prescient_busy_ratio", "As of an agent.", nil, nil), prometheus.GaugeValue, 0.5)
}

// process is a Prometheus of one test, with its files in a folder of its own.
type process struct {
	t   *testing.T
	url string
	log string
}

// patience is for how long a Prometheus may take to tell.
const patience = 30 * time.Second

// startPrometheus starts one that scrapes texts, each at its path, and goes by the rules.
func startPrometheus(t *testing.T, scraped map[string]string) *process {
	t.Helper()
	texts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, scraped[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	t.Cleanup(texts.Close)
	dir := t.TempDir()
	files, err := Files(Options{Doctor: doctor.Options{Resolution: 15 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	config := "global: {scrape_interval: 500ms, scrape_timeout: 400ms, evaluation_interval: 500ms}\nrule_files: [" + files[0].Name + "]\nscrape_configs:\n"
	for name := range scraped {
		config += fmt.Sprintf("- {job_name: %s, metrics_path: /%s, static_configs: [{targets: ['%s']}]}\n", name, name, strings.TrimPrefix(texts.URL, "http://"))
	}
	for name, text := range map[string]string{files[0].Name: files[0].Text, "prometheus.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // the port is free now, and hardly given to another soon
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	p := &process{t: t, url: "http://" + address, log: filepath.Join(dir, "log")}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	command := exec.Command(program(t, "prometheus"), "--config.file", filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGKILL)
		_ = command.Wait() // it says that it was killed
		http.DefaultClient.CloseIdleConnections()
	})
	return p
}

// eventually waits until something is so; where it never is, seen says what was.
func (p *process) eventually(what string, is func() bool, seen func() string) {
	p.t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for started := time.Now(); !is(); <-again.C {
		if time.Since(started) > patience {
			said, _ := os.ReadFile(p.log)
			p.t.Fatalf("never came about: %s: %s\n%s", what, seen(), said)
		}
	}
}

// get asks the API of Prometheus.
func (p *process) get(path string, into any) error {
	request, err := http.NewRequestWithContext(p.t.Context(), "GET", p.url+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var said struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return err
	}
	if said.Status != "success" {
		return errors.New(said.Error)
	}
	return json.Unmarshal(said.Data, into)
}

// ask is how many series a query finds.
func (p *process) ask(expr string) (int, error) {
	var found struct{ Result []json.RawMessage }
	err := p.get("/api/v1/query?query="+url.QueryEscape(expr), &found)
	return len(found.Result), err
}

// alerts are those that are pending or fire, with what they are of; none before each rule was looked at.
func (p *process) alerts() (list []string) {
	var found struct {
		Groups []struct {
			Rules []struct {
				Name, Health, LastError string
				Alerts                  []struct{ Labels, Annotations map[string]string }
			}
		}
	}
	if err := p.get("/api/v1/rules", &found); err != nil {
		return nil // it does not answer yet
	}
	for _, group := range found.Groups {
		for _, r := range group.Rules {
			if r.LastError != "" {
				p.t.Fatalf("%s: %s", r.Name, r.LastError)
			}
			if r.Health != "ok" {
				return nil
			}
			for _, a := range r.Alerts {
				for name, text := range a.Annotations {
					if text == "" || strings.Contains(text, "<") || strings.Contains(text, "{{") || strings.Contains(text, "%!") {
						p.t.Errorf("%s of %s: %s", name, r.Name, text)
					}
				}
				list = append(list, r.Name+" "+a.Labels["job_exec"]+a.Labels["kind"]+a.Labels["pool"]+a.Labels["topic"]+a.Labels["why"])
			}
		}
	}
	return list
}
