package serve

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
	m := newMetrics([]string{"unshipped"})
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
	families, err := m.registry.Gather()
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
