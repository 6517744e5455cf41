package prune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient/audit"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// record writes the audit of a prune. What it did took many transactions, so that the entry comes after them.
func (p *pruner) record(ctx context.Context) error {
	err := p.retry(ctx, "writing the audit", func(ctx context.Context) error {
		return audit.On(&p.tables).Record(ctx, p.conn, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "prune", After: p.report})
	})
	if err != nil {
		return fmt.Errorf("writing the audit of the prune: %w", err)
	}
	return nil
}

// old is the place of an old entry.
type old struct{ at, stream, seq string }

// pruneAudit deletes old entries of the audit: all of an object that is gone, or never was there to stay, and of others those between
// the first and the latest. The entry that then comes after the first is marked, so that the doctor does not miss any.
func (p *pruner) pruneAudit(ctx context.Context, now time.Time) error {
	if p.options.KeepAudit == 0 {
		return nil
	}
	cutoff := now.Add(-p.options.KeepAudit).Truncate(time.Second)
	p.report.AuditCutoff = &cutoff
	before := literal.Of(literal.AppendMicro, cutoff)
	behind := "1 = 1"
	for {
		var page []old
		err := p.retry(ctx, "reading the audit", func(ctx context.Context) (err error) {
			page, err = p.oldEntries(ctx, before, behind)
			return err
		})
		if err != nil {
			return fmt.Errorf("reading the audit: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		var n int
		err = p.retry(ctx, "deleting old entries of the audit", func(ctx context.Context) (err error) {
			n, err = p.endEntries(ctx, page, before)
			return err
		})
		if err != nil {
			return fmt.Errorf("deleting old entries of the audit: %w", err)
		}
		p.report.AuditRows += n
		p.did()
		last := page[len(page)-1]
		behind = fmt.Sprintf("(at > '%[1]s' OR at = '%[1]s' AND (stream > X'%[2]s' OR stream = X'%[2]s' AND seq > %[3]s))", last.at, last.stream, last.seq)
	}
}

func (p *pruner) oldEntries(ctx context.Context, cutoff, behind string) (page []old, err error) {
	rows, err := p.conn.QueryContext(ctx, p.tables.Fill("prune/audit_old", "{cutoff}", cutoff, "{behind}", behind, "{limit}", strconv.Itoa(pruneBatch)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o old
		if err := rows.Scan(&o.at, &o.stream, &o.seq); err != nil {
			return nil, err
		}
		page = append(page, o)
	}
	return page, rows.Err()
}

// endEntries deletes what may go of the streams of some entries, and marks what stays behind that, in one transaction.
func (p *pruner) endEntries(ctx context.Context, page []old, cutoff string) (deleted int, err error) {
	var streams []string
	for _, o := range page {
		streams = append(streams, "X'"+o.stream+"'")
	}
	slices.Sort(streams)
	streams = slices.Compact(streams)
	tx, err := p.conn.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Rollback(tx.Tx))
		}
	}()
	rows, err := tx.QueryContext(ctx, p.tables.Fill("prune/audit_streams", "{streams}", strings.Join(streams, ","), "{cutoff}", cutoff))
	if err != nil {
		return 0, err
	}
	var ranges, marks []string
	for rows.Next() {
		var stream, kind, verb string
		var kept sql.NullInt64
		var latest int64
		if err := rows.Scan(&stream, &kept, &latest, &kind, &verb); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		from, to := staying(kept, latest, audit.Kind(kind), verb)
		if to > from {
			ranges = append(ranges, fmt.Sprintf("entry.stream = X'%s' AND entry.seq >= %d AND entry.seq < %d", stream, from, to))
		}
		if to > from && from > 1 {
			marks = append(marks, fmt.Sprintf("stream = X'%s' AND seq = %d", stream, to))
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	if len(ranges) > 0 {
		if deleted, err = store.Affected(ctx, tx, p.tables.Fill("prune/audit_end", "{ranges}", strings.Join(ranges, " OR "))); err != nil {
			return 0, err
		}
	}
	if len(marks) > 0 {
		if _, err = tx.ExecContext(ctx, p.tables.Fill("prune/audit_mark", "{entries}", strings.Join(marks, " OR "))); err != nil {
			return 0, err
		}
	}
	return deleted, tx.Commit()
}

// staying says which entries of a stream go: from one (inclusive) to another. kept is the first that is not old.
func staying(kept sql.NullInt64, latest int64, kind audit.Kind, verb string) (from, to int64) {
	switch lasting := kind != audit.Check && kind != audit.Event && verb != audit.Delete; {
	case kept.Valid:
		return 2, kept.Int64
	case lasting:
		return 2, latest
	}
	return 1, latest + 1
}
