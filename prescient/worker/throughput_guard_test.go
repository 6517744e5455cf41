//go:build !race

package worker

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
)

// guarded are ratios within one run, by server: half of what they were when this was written, which stands beside each.
// Raise them with what they guard. What takes time keeps to its time on a quiet machine only, and slot runs want all
// processors, the floor one: where other things run, too, the time on processors counts.
var guarded = map[localserver.Flavour]struct{ ends, moves, bulk bound }{
	localserver.MariaDB: {
		ends:  bound{time: 0.30, cpu: 0.24}, // 0.61, 0.49
		moves: bound{time: 0.28, cpu: 0.28}, // 0.57, 0.57
		bulk:  bound{time: 0.50, cpu: 0.50}, // 1.0, 1.0
	},
	localserver.MySQL: {
		ends:  bound{time: 0.34, cpu: 0.27}, // 0.68, 0.54
		moves: bound{time: 0.38, cpu: 0.40}, // 0.77, 0.80
		bulk:  bound{time: 0.50, cpu: 0.50}, // 1.0, 1.0
	},
}

// bound is the least that something may be of something else: throughput by time, or by time on processors.
type bound struct{ time, cpu float64 }

const (
	// guardTries are how often everything is measured at most, one after the other. What is measured in one try is
	// compared, as a machine's speed may change from one to the next, and the one in the middle counts. Where that is
	// enough there is no further try.
	guardTries = 10
	// busyElsewhere is the share of the processors that others may use on a quiet machine.
	busyElsewhere = 0.15
)

// Slot runs and bulk inserts keep up with what the server itself needs for the same work.
func TestThroughputHasNotFallenByHalf(t *testing.T) {
	servertest.EachInTurn(t, func(t *testing.T, d servertest.Database) {
		rig.Needs(t, d.Open(t, ""), rig.ColumnDefaults)
		bounds, known := guarded[d.Flavour]
		if !known {
			t.Skipf("no bounds for %s", d.Flavour)
		}
		y := newYard(t, d, 8_000)
		next := y.slot.Add(24 * time.Hour)
		end := y.worker(rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{})
		move := y.worker(rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return &next, nil }, prescient.Guards{}), Options{})
		client, err := client.New(t.Context(), y.app, client.Options{Prefix: "p_"})
		y.must(err)
		jobs := y.jobs(y.rows)

		var floor, ends, moves, byHand, bulk costs
		ratios := []struct {
			what        string
			of, against *costs
			least       bound
		}{
			{"ends against the floor", &ends, &floor, bounds.ends},
			{"reschedules against ends", &moves, &ends, bounds.moves},
			{"bulk insert against a multi-row INSERT", &bulk, &byHand, bounds.bulk},
		}
		others := y.watchOthers()
		for try := 1; try <= guardTries; try++ {
			y.fill()
			floor.of(y, y.floor)
			y.fill()
			ends.of(y, func() { y.run(end, runOptions{parallel: 2}) })
			y.fill()
			moves.of(y, func() { y.run(move, runOptions{parallel: 2}) })
			y.exec("TRUNCATE TABLE p_future_job")
			byHand.of(y, func() { y.insertByHand(jobs) })
			y.exec("TRUNCATE TABLE p_future_job")
			bulk.of(y, func() {
				_, err := client.InsertMany(t.Context(), y.app, jobs)
				y.must(err)
			})
			enough, elsewhere := try >= 3, others()
			for _, r := range ratios {
				enough = enough && r.of.fallen(*r.against, r.least, elsewhere) == ""
			}
			if enough {
				break
			}
		}
		elsewhere := others()
		for _, r := range ratios {
			byTime, byCPU := r.of.against(*r.against)
			t.Logf("%s: %.2f by time, %.2f by processors, of which others used %.0f %%", r.what, byTime, byCPU, 100*elsewhere)
			if fallen := r.of.fallen(*r.against, r.least, elsewhere); fallen != "" {
				t.Errorf("%s: %s", r.what, fallen)
			}
		}
	})
}

// costs is what something cost in each try.
type costs []cost

func (s *costs) of(y *yard, do func()) { *s = append(*s, y.measure(do)) }

// against is how many times as fast it was as another in the try in the middle, and how many times as cheap in all,
// since a processor's time is known in hundredths of a second; 0 where the server's is not known.
func (s costs) against(other costs) (byTime, byCPU float64) {
	var ratios []float64
	var own, others cost
	for i := range s {
		ratios = append(ratios, float64(other[i].elapsed)/float64(s[i].elapsed))
		own.add(s[i])
		others.add(other[i])
	}
	slices.Sort(ratios)
	if own.server > 0 {
		byCPU = float64(others.client+others.server) / float64(own.client+own.server)
	}
	return ratios[len(ratios)/2], byCPU
}

// fallen says what is less than it has to be, where others use a share of the processors; nothing if all is well.
func (s costs) fallen(other costs, least bound, elsewhere float64) string {
	byTime, byCPU := s.against(other)
	switch {
	case byTime >= least.time:
	case elsewhere <= busyElsewhere || byCPU == 0:
		return fmt.Sprintf("%.2f; want %.2f at least", byTime, least.time)
	case byCPU < least.cpu:
		return fmt.Sprintf("%.2f by time on processors; want %.2f at least", byCPU, least.cpu)
	}
	return ""
}

func TestThroughputThatFellByHalfIsSeenOnAQuietMachineAndOnABusyOne(t *testing.T) {
	took := func(ms, cpu int) cost {
		return cost{elapsed: time.Duration(ms) * time.Millisecond, server: time.Duration(cpu) * time.Millisecond}
	}
	floor := costs{took(100, 50), took(130, 50), took(100, 50)}
	for name, test := range map[string]struct {
		ends      costs
		elsewhere float64
		fallen    bool
	}{
		"as it was":                     {costs{took(170, 110), took(170, 110), took(170, 110)}, 0, false},
		"slower in one try":             {costs{took(170, 110), took(210, 110), took(900, 110)}, 0, false},
		"as it was in one try":          {costs{took(450, 220), took(450, 220), took(100, 110)}, 0, true},
		"half as fast":                  {costs{took(340, 220), took(450, 220), took(340, 220)}, 0, true},
		"half as fast, waiting":         {costs{took(340, 110), took(450, 110), took(340, 110)}, 0, true},
		"others take the processors":    {costs{took(900, 130), took(900, 130), took(900, 130)}, 0.8, false},
		"the same, and twice the work":  {costs{took(900, 240), took(900, 240), took(900, 240)}, 0.8, true},
		"a server on another machine":   {costs{took(900, 0), took(900, 0), took(900, 0)}, 0, true},
		"one whose processors are free": {costs{took(900, 130), took(900, 130), took(900, 130)}, busyElsewhere, true},
	} {
		if got := test.ends.fallen(floor, guarded[localserver.MariaDB].ends, test.elsewhere); (got != "") != test.fallen {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// watchOthers looks at the processors until the function that it returns is called, which tells which share of them was
// used by others than this process and the server; 0 where it is not known.
func (y *yard) watchOthers() func() (share float64) {
	all, own, began := machineCPU(), ownCPU()+cpuOf(y.pid), time.Now()
	return func() float64 {
		if all == 0 || y.pid == 0 {
			return 0
		}
		others := machineCPU() - all - (ownCPU() + cpuOf(y.pid) - own)
		return max(float64(others)/float64(time.Since(began))/float64(runtime.NumCPU()), 0)
	}
}

// machineCPU is what all processes together have used.
func machineCPU() (used time.Duration) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	for i, field := range strings.Fields(line)[1:] {
		if n, err := strconv.Atoi(field); err == nil && i < 8 && i != 3 && i != 4 { // but for idle, and waiting for the disk
			used += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return used
}
