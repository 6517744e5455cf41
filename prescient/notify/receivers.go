package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/store"
)

// Told is who is told of findings, and of what.
type Told struct {
	At        time.Time  `json:"at" doc:"The database's time."`
	Worker    string     `json:"worker" doc:"The worker that tells receivers; empty where none does."`
	Receivers []Standing `json:"receivers" doc:"Those who were told of something that is not over, or are to be told."`
}

// Standing is how it stands with a receiver.
type Standing struct {
	Receiver       string     `json:"receiver"`
	UnreachedSince *time.Time `json:"unreached_since" doc:"Since when it cannot be reached; null where that is not known."`
	Error          string     `json:"error" doc:"Why a receiver cannot be reached, of several the first."`
	Waiting        int        `json:"waiting" doc:"Of how many codes it is to be told, and did not acknowledge that yet."`
	Codes          []Known    `json:"codes"`
}

// Known is what a receiver was told of a code, and is to be told.
type Known struct {
	Code      string          `json:"code"`
	Severity  doctor.Severity `json:"severity"`
	Text      string          `json:"text"`
	Since     time.Time       `json:"since" doc:"Since when it is seen."`
	GoneSince *time.Time      `json:"gone_since" doc:"Since when it is not seen any more."`
	ToldAt    *time.Time      `json:"told_at" doc:"When the receiver acknowledged it last; null where it knows nothing of it."`
	Waits     string          `json:"waits" doc:"What it is to be told of it: new, worse, more, reminder or over; empty for nothing."`
}

// Look says who is told of findings, and of what. Who knows all of them has nothing to show.
func Look(ctx context.Context, db *sqlx.DB, tables *store.Tables) (told Told, err error) {
	if told.At, err = tables.ReadClock(ctx, db); err != nil {
		return told, fmt.Errorf("asking for the time: %w", err)
	}
	rows, err := (&findings{db: db, tables: *tables}).list(ctx, "")
	if err != nil {
		return told, err
	}
	if told.Worker, err = duty.Holder(ctx, db, tables, duty.Notify); err != nil {
		return told, err
	}
	told.Receivers = standingsOf(rows)
	return told, nil
}

// Again has what waits be sent at once: the process that tells receivers loses the lease, and whoever takes it knows of no receiver that it could
// not be reached. It returns the worker that told them; empty where none did.
func Again(ctx context.Context, tx prescient.DB, tables *store.Tables) (worker string, err error) {
	return duty.Recall(ctx, tx, tables, duty.Notify)
}

// standingsOf puts together the rows of each receiver; who cannot be reached comes first.
func standingsOf(rows []row) (all []Standing) {
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.receiver, b.receiver) })
	for _, r := range rows {
		if len(all) == 0 || all[len(all)-1].Receiver != r.receiver {
			all = append(all, Standing{Receiver: r.receiver})
		}
		is := &all[len(all)-1]
		if since, unreached := r.names[r.receiver]; r.code == Code && unreached && r.goneSince == nil {
			is.UnreachedSince, is.Error = &since, r.text
		}
		one := Known{Code: r.code, Severity: r.severity, Text: r.text, Since: r.seenSince, GoneSince: r.goneSince}
		if r.told != nil {
			one.ToldAt = &r.told.at
		}
		if r.message != "" {
			is.Waiting, one.Waits = is.Waiting+1, string(r.kind)
		}
		is.Codes = append(is.Codes, one)
	}
	slices.SortStableFunc(all, func(a, b Standing) int {
		switch {
		case (a.UnreachedSince == nil) == (b.UnreachedSince == nil):
			return 0
		case a.UnreachedSince != nil:
			return -1
		}
		return 1
	})
	return all
}
