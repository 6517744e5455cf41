package rig

import (
	"context"
	"time"

	"prescient/scripts/bench/internal/page"
)

// Timed reads several times, and records the first time and the median.
func Timed(ctx context.Context, b *Bench, name string, size, times int, read func() (int, error)) error {
	var all []float64
	var found int
	note := ""
	for range times {
		started := time.Now()
		n, err := read()
		took := time.Since(started)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		all = append(all, took.Seconds()*1000)
		if err != nil {
			note = err.Error()
		}
		found = n
		if took > 2*time.Second {
			break
		}
	}
	b.Say("  %-52s %9d: first %9.1f ms, median %9.1f ms, %d rows %s", name, size, all[0], page.Median(all), found, note)
	return b.Book.Add(page.Record{Case: name, Rows: size, Note: note, Figures: map[string]float64{
		"first_ms": all[0], "median_ms": page.Median(all), "found": float64(found)}})
}

// Questions counts the statements that a server has answered, with the one that asks: on a connection that stays.
func (p *Place) Questions() func() (float64, error) {
	return func() (n float64, err error) {
		var name string
		return n, p.App.QueryRow("SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
	}
}
