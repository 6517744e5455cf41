package large

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/api"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/ops"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
	"prescient/prescient/schedule"
	"prescient/prescient/stats"
	"prescient/prescient/steps"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

const (
	// callers ask at the same time, each with a token of its own.
	callers = 20
	// callersAsk is for how long they do, each request anew as soon as it is answered.
	callersAsk = 3 * time.Second
	// sharedFor is longer than an answer is given to others that ask the same.
	sharedFor = 2100 * time.Millisecond
	// asOftenAsTheyCan is how many requests a second callers may send.
	asOftenAsTheyCan = 1e6
)

// endpoints are what the API is asked for. {middle} is a time in the middle of history, {slot} one with much to come.
var endpoints = []string{
	"checks/get?entity=order/4711&job_exec=order-unshipped",
	"checks/pending", "checks/pending?job_exec=refund-stuck", "checks/pending?entity=order/4711", "checks/pending?slot={slot}&limit=100",
	"checks/ended", "checks/ended?entity=account/main", "checks/ended?job_exec=refund-stuck", "checks/ended?outcome=timed_out", "checks/ended?from={middle}",
	"checks/life?entity=order/4711", "checks/life?entity=account/main",
	"slots/load", "slots/ledger", "forecast/get", "status/look", "doctor/examine", "attest/run",
	"stats/execs", "stats/percentiles", "stats/days", "stats/days?job_exec=order-unshipped", "stats/slower", "execs/list", "pauses/list",
	"schedules/list", "schedules/get?id=nightly", "schedules/runs?id=nightly", "schedules/preview?crontab=@daily&zone=Europe/Berlin",
	"rules/list", "rules/get?name=remind", "rules/versions?name=remind", "notify/list", "execs/advise?job_exec=order-unshipped",
	"jobs/list", "jobs/get?name=close-the-day", "jobs/versions?name=close-the-day", "jobs/runs", "steps/list", "runs/long",
	"agents/list", "agents/pools", "events/backlog", "events/set_aside", "audit/list", "audit/list?kind=check", "bulk/list", "tokens/list", "metrics",
	"health?ready=true",
}

// fillNames makes what the endpoints ask for by name.
func fillNames(ctx context.Context, p *rig.Place) error {
	db, err := connect.Open(p.DSN(p.Name), 0)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := client.New(ctx, p.App, client.Options{})
	if err != nil {
		return err
	}
	if _, err := schedule.New(c).Create(ctx, db, schedule.Schedule{ID: "nightly", Crontabs: []string{"@daily"}, JobExec: "account-idle"}); err != nil {
		return err
	}
	if _, _, err := rulebook.New(c).Put(ctx, db, rule.Rule{Name: remind, Occasion: "placed", JobExec: remind, Delay: oldDelay}, 0, rule.Move); err != nil {
		return err
	}
	_, err = steps.New(c, steps.Options{}).Create(ctx, db, steps.Job{Name: "close-the-day", Crontabs: []string{"@daily"}, Steps: []steps.Step{{Name: "one", JobExec: "account-idle"}}})
	return err
}

// sumUp sums history up to the last hour that is over, as agents do beside their work.
func sumUp(ctx context.Context, p *rig.Place) error {
	db, err := connect.Open(p.DSN(p.Name), 0)
	if err != nil {
		return err
	}
	defer db.Close()
	rollup, err := stats.New(ctx, db, stats.Options{Worker: "bench"})
	if err != nil {
		return err
	}
	for last := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour); ; rollup.Once(ctx) {
		var summed bool
		if err := db.GetContext(ctx, &summed, "SELECT COALESCE(MAX(start) >= ?, FALSE) FROM stats_hour", last); err != nil || summed {
			return err
		}
	}
}

// API is the section of what programs ask for.
var API = rig.Section{
	Name:  "api",
	About: "each endpoint of the API that answers, by one caller and by 20 at once, with what one answer takes of statements; among the rows of section answers",
	Run:   func(ctx context.Context, b *rig.Bench, s *rig.Server) error { return measureEndpoints(ctx, b, s) },
}

func measureEndpoints(ctx context.Context, b *rig.Bench, s *rig.Server) error {
	return askServed(ctx, b, s, endpoints, api.Base+"/", func(o *ops.Ops) (http.Handler, error) {
		return api.New(api.Options{Ops: o, Rate: asOftenAsTheyCan, Authenticate: func(r *http.Request) (ops.Caller, error) {
			return ops.Caller{Name: r.Header.Get("Authorization"), Role: ops.Admin, Token: uint64(len(r.Header.Get("Authorization"))), Host: "bench"}, nil
		}}), nil
	})
}

// askServed asks what is served of a filled installation for each path below a base.
func askServed(ctx context.Context, b *rig.Bench, s *rig.Server, paths []string, base string, serve func(o *ops.Ops) (http.Handler, error)) error {
	return onFilled(ctx, b, s, func(p *rig.Place, db *sqlx.DB, ended int) error {
		o, err := ops.Open(ctx, ops.Options{Accounts: ops.Accounts{Viewer: db, Operator: db, Admin: db}})
		if err != nil {
			return err
		}
		handler, err := serve(o)
		if err != nil {
			return err
		}
		server := httptest.NewServer(handler)
		defer server.Close()
		return askEach(ctx, b, p, ended, paths, server.URL+base)
	})
}

// askEach asks for each path by one caller, which counts the statements, and then by all of them at once.
func askEach(ctx context.Context, b *rig.Bench, p *rig.Place, size int, paths []string, base string) error {
	pairs := []string{"{middle}", url.QueryEscape(time.Now().UTC().AddDate(0, 0, -historyDays/2).Format(time.RFC3339)),
		"{slot}", url.QueryEscape(time.Now().UTC().Add(10 * 24 * time.Hour).Truncate(resolution).Format(time.RFC3339))}
	var worst float64
	for _, path := range paths {
		address := base + replace(path, pairs...)
		count := p.Questions()
		before, err := count()
		if err != nil {
			return err
		}
		const alone = 2
		var ms []float64
		for range alone {
			if err := rig.Pause(ctx, sharedFor); err != nil {
				return err
			}
			took, err := get(ctx, address, 1)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			ms = append(ms, took)
		}
		after, err := count()
		if err != nil {
			return err
		}
		all, err := together(ctx, address)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		slices.Sort(all)
		figures := map[string]float64{"statements": (after - before - 1) / alone, "alone ms": page.Median(ms), "20 p50 ms": page.Percentile(all, 50),
			"20 p99 ms": page.Percentile(all, 99), "20 a second": float64(len(all)) / callersAsk.Seconds()}
		worst = max(worst, figures["20 p99 ms"])
		b.Say("  %-58s %5.1f statements, alone %7.1f ms; 20 at once: %8.1f, %8.1f ms, %7.0f a second", path, figures["statements"], figures["alone ms"],
			figures["20 p50 ms"], figures["20 p99 ms"], figures["20 a second"])
		if err := b.Book.Add(page.Record{Case: path, Rows: size, Figures: figures}); err != nil {
			return err
		}
	}
	b.Say("  the slowest p99 of all is %.0f ms", worst)
	return nil
}

// together has all callers ask, and returns how many milliseconds each answer took.
func together(ctx context.Context, address string) (all []float64, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	until := time.Now().Add(callersAsk)
	for caller := range callers {
		group.Go(func() {
			for time.Now().Before(until) {
				took, failed := get(ctx, address, caller+1)
				mu.Lock()
				all, err = append(all, took), errors.Join(err, failed)
				stop := err != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	group.Wait()
	return all, err
}

// get reads an answer to its end as one of the callers.
func get(ctx context.Context, address string, caller int) (ms float64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", fmt.Sprintf("%0*d", caller, 0))
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 400 && resp.StatusCode != http.StatusNotFound {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return time.Since(began).Seconds() * 1000, err
}
