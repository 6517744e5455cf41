package schedules

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	netresearch "github.com/netresearch/go-cron"
	robfig "github.com/robfig/cron/v3"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// inCron is an in-process cron.
type inCron interface {
	add(crontab string, do func()) error
	start()
	stop()
}

type robfigCron struct{ *robfig.Cron }

func (c robfigCron) add(crontab string, do func()) error {
	_, err := c.AddFunc(crontab, do)
	return err
}
func (c robfigCron) start() { c.Start() }
func (c robfigCron) stop()  { <-c.Stop().Done() }

type netresearchCron struct{ *netresearch.Cron }

func (c netresearchCron) add(crontab string, do func()) error {
	_, err := c.AddFunc(crontab, do)
	return err
}
func (c netresearchCron) start() { c.Start() }
func (c netresearchCron) stop()  { <-c.Stop().Done() }

// inProcess measures an in-process cron with as many entries, whose job is to count.
func inProcess(ctx context.Context, b *rig.Bench) error {
	for _, of := range []struct {
		name string
		make func() inCron
	}{
		{"robfig/cron, in the process", func() inCron { return robfigCron{robfig.New(robfig.WithLocation(time.UTC))} }},
		{"netresearch/go-cron, in the process", func() inCron { return netresearchCron{netresearch.New(netresearch.WithLocation(time.UTC))} }},
	} {
		if b.Wants("in the process") {
			if err := fireInProcess(ctx, b, of.name, of.make()); err != nil {
				return fmt.Errorf("%s: %w", of.name, err)
			}
		}
	}
	return nil
}

// fireInProcess adds entries, and lets a tenth of them fire in the next minute.
func fireInProcess(ctx context.Context, b *rig.Bench, name string, c inCron) error {
	before := heap()
	many, due := b.Scaled(1_000_000), b.Scaled(firing)
	var fired, latest atomic.Int64
	var slot time.Time
	if _, err := b.TookWith(name+": added", 1, nil, func() (int, error) {
		for i := range many - due {
			minute := i * 7919 % (24 * 60)
			if err := c.add(fmt.Sprintf("CRON_TZ=%s %d %d * * *", zones[i%len(zones)], minute%60, minute/60), func() {}); err != nil {
				return 0, err
			}
		}
		slot = time.Now().UTC().Add(time.Duration(many)*20*time.Microsecond + 5*time.Second).Truncate(time.Minute).Add(time.Minute)
		crontab := fmt.Sprintf("CRON_TZ=UTC %d %d * * *", slot.Minute(), slot.Hour())
		for range due {
			if err := c.add(crontab, func() {
				fired.Add(1)
				latest.Store(time.Since(slot).Microseconds())
			}); err != nil {
				return 0, err
			}
		}
		return many, nil
	}, func(r *page.Record) {
		r.Figures = map[string]float64{"bytes each": (heap() - before) / float64(many)}
	}); err != nil {
		return err
	}
	started := rig.UsageNow()
	c.start()
	defer c.stop()
	if err := rig.Pause(ctx, time.Until(slot)); err != nil {
		return err
	}
	for fired.Load() < int64(due) && time.Since(slot) < 5*time.Minute {
		if err := rig.Pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	r := page.Record{Case: name + ": a minute of runs that do nothing", Round: 1, Rows: due, Seconds: float64(latest.Load()) / 1e6,
		ClientCPU: rig.UsageNow().Client - started.Client, Figures: map[string]float64{"last s after the slot": float64(latest.Load()) / 1e6}}
	if fired.Load() < int64(due) {
		r.Note = fmt.Sprintf("%d of %d in 5 minutes", fired.Load(), due)
	}
	b.Say("  %-52s %9d fired  %s %s", r.Case, due, page.FiguresText(r.Figures), r.Note)
	return b.Book.Add(r)
}

// heap is what is in use, in bytes.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
