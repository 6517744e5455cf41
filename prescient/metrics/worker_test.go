package metrics

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"prescient/prescient"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// A misspelt name is seen in the metrics; rows with names without end do not make labels without end.
func TestFewNamesThatOnlyRowsHaveAreLabels(t *testing.T) {
	m := begun("unshipped")
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range 10 * strangers {
				m.answered([]worker.Result{{Job: prescient.FutureJob{JobExec: fmt.Sprint("tyop-", i)}, Unregistered: true},
					{Job: prescient.FutureJob{JobExec: "unshipped"}, Called: true, Outcome: prescient.Done}})
			}
		})
	}
	workers.Wait()
	families, err := gatherer(t, m).Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	named := 0
	for _, family := range families {
		if family.GetName() != "prescient_moved_total" && family.GetName() != "prescient_ended_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			name := metric.GetLabel()[0].GetValue()
			got[name] += metric.GetCounter().GetValue()
			if strings.HasPrefix(name, "tyop-") {
				named++
				if why := metric.GetLabel()[1].GetValue(); why != "unregistered" {
					t.Errorf("%s: %s", name, why)
				}
			}
		}
	}
	if named != strangers || got["tyop-0"] != 4 || got[books.OtherExecs] != 4*9*strangers || got["unshipped"] != 4*10*strangers {
		t.Errorf("%d names of rows have a label; %v", named, got)
	}
}

// Of a call that fails the metrics know, whatever becomes of its check; a program with job_execs without end does not make labels without end.
func TestCallsThatFailAreCountedByJobExec(t *testing.T) {
	names := make([]string, 3*mostExecs)
	for i := range names {
		names[i] = fmt.Sprintf("exec-%03d", i)
	}
	m := begun(names...)
	for _, name := range append(names, "a-row-has-it") {
		job := prescient.FutureJob{JobExec: name}
		m.answered([]worker.Result{{Job: job, Called: true, Failed: true, Outcome: prescient.Failed}, {Job: job, Called: true, Failed: true, Reason: "tried again"},
			{Job: job, Called: true, Failed: true, Outcome: prescient.Failed, Dropped: true}, {Job: job, Called: true, Outcome: prescient.MaxChecks, Reason: "too many"},
			{Job: job, Unregistered: true, Reason: "unknown"}})
	}
	failed, calls, labels := 0.0, 0.0, 0
	got := series(t, gatherer(t, m))
	for name, n := range got {
		switch metric, _, _ := strings.Cut(name, "{"); metric {
		case "prescient_call_errors_total":
			failed += n
			labels++
		case "prescient_run_seconds":
			calls += n
		}
	}
	all := float64(len(names) + 1)
	if one := got[`prescient_call_errors_total{job_exec="exec-007"}`]; one != 3 || failed != 3*all || calls != 4*all || labels != mostExecs+strangers+1 {
		t.Errorf("%v calls of exec-007 failed; %v of %v in all, under %d labels", one, failed, calls, labels)
	}
}
