package prune

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// laterPartition is the last partition of a table: it takes what ends, or is published, after all the others.
const laterPartition = "p_later"

// parted is a table whose old rows leave by whole partitions.
type parted struct {
	name  string // of the table, without the prefix
	what  string // in errors
	at    string // the column that says how old a row is
	order string // the columns of its primary key
	span  time.Duration
}

var (
	history   = parted{name: "job_history", what: "history", at: "ended_at", order: "ended_at, job_key, revision", span: text.PartitionSpan}
	published = parted{name: "event_published", what: "published events", at: "published_at", order: "published_at, seq", span: 24 * time.Hour}
)

// fill puts the words of a table into a statement, and further ones.
func (p *pruner) fill(of parted, statement string, pairs ...string) string {
	return p.tables.Fill(statement, append([]string{"{table}", of.name, "{at}", of.at, "{order}", of.order}, pairs...)...)
}

// partition is a part of a table: what ended before a time, and not before the end of the one that precedes it.
type partition struct {
	name   string
	before time.Time // zero for the last
}

// partition makes the partitions that are missing, and drops those that ended before the cutoff. It gives up when the
// patience is over.
func (p *pruner) partition(ctx context.Context, of parted, now, cutoff time.Time) error {
	p.ddl.HavePatience(p.options.Patience)
	list, err := p.partitions(ctx, of)
	if err != nil {
		return err
	}
	if err := p.makeReady(ctx, of, list, now); err != nil || cutoff.IsZero() {
		return err
	}
	// What was split may have old parts.
	if list, err = p.partitions(ctx, of); err != nil {
		return err
	}
	for _, old := range expired(list, cutoff) {
		if err := p.change(ctx, p.fill(of, "prune/drop", "{partition}", old.name)); err != nil {
			return fmt.Errorf("dropping the partition %s of %s: %w", old.name, of.what, err)
		}
		*p.dropped(of) = append(*p.dropped(of), old.name)
		p.did()
	}
	return nil
}

// dropped are the partitions that were dropped of a table.
func (p *pruner) dropped(of parted) *[]string {
	if of == history {
		return &p.report.Dropped
	}
	return &p.report.DroppedDays
}

// makeReady splits the last partition.
func (p *pruner) makeReady(ctx context.Context, of parted, list []partition, now time.Time) error {
	last := time.Time{}
	if len(list) > 1 {
		last = list[len(list)-2].before
	}
	if of == history {
		p.report.ReadyUntil = last
	}
	if len(missing(of.span, last, now, now)) == 0 {
		return nil
	}
	var rows int
	var first *time.Time
	err := p.retry(ctx, "looking into the last partition", func(ctx context.Context) error {
		return p.conn.QueryRowxContext(ctx, p.fill(of, "prune/later_rows"), p.options.MaxCopy+1).Scan(&rows, &first)
	})
	if err != nil {
		return fmt.Errorf("looking into the last partition of %s: %w", of.what, err)
	}
	if rows > p.options.MaxCopy {
		p.report.Undivided = p.report.Undivided || of == history // what is published leaves by rows then
		return nil
	}
	begin := now
	if first != nil && first.Before(now) {
		begin = *first
	}
	made := missing(of.span, last, begin, now)
	var b strings.Builder
	for _, part := range made {
		fmt.Fprintf(&b, "PARTITION %s VALUES LESS THAN (%s), ", part.name, literal.Of(literal.AppendSecond, part.before))
	}
	b.WriteString("PARTITION " + laterPartition + " VALUES LESS THAN (MAXVALUE)")
	if err := p.change(ctx, p.fill(of, "prune/split", "{partitions}", b.String())); err != nil {
		return fmt.Errorf("making partitions of %s: %w", of.what, err)
	}
	if of == history {
		for _, part := range made {
			p.report.Made = append(p.report.Made, part.name)
		}
		p.report.ReadyUntil = made[len(made)-1].before
	}
	p.did()
	return nil
}

// expired returns the partitions all of which ended before the cutoff.
func expired(list []partition, cutoff time.Time) (old []partition) {
	for _, part := range list {
		if !part.before.IsZero() && !part.before.After(cutoff) {
			old = append(old, part)
		}
	}
	return old
}

// mostBehind bounds how many partitions are made for what ended before now.
const mostBehind = 520

// missing returns the partitions to make behind the last one there is, which ends at last (zero for none): from the
// one that begin lies in, where that is later, to PartitionsAhead after now. Weeks begin on Mondays, and days at midnight, whatever last is.
func missing(span time.Duration, last, begin, now time.Time) (list []partition) {
	if last.After(begin) {
		begin = last
	}
	from := begin.UTC().Truncate(span)
	if oldest := now.UTC().Truncate(span).Add(-mostBehind * span); from.Before(oldest) {
		from = oldest
	}
	until := now.UTC().Truncate(span).Add((PartitionsAhead + 1) * span)
	for end := from.Add(span); !end.After(until); end = end.Add(span) {
		list = append(list, partition{name: end.Add(-span).Format("p_20060102"), before: end})
	}
	return list
}

// partitions lists the partitions of a table, the last of which has to be laterPartition.
func (p *pruner) partitions(ctx context.Context, of parted) ([]partition, error) {
	var rows []struct {
		Name   string `db:"name"`
		Before string `db:"before_what"`
	}
	err := p.retry(ctx, "reading the partitions", func(ctx context.Context) error {
		rows = nil
		return p.conn.SelectContext(ctx, &rows, p.fill(of, "prune/partitions"))
	})
	if err != nil {
		return nil, fmt.Errorf("reading the partitions of %s: %w", of.what, err)
	}
	var list []partition
	for i, row := range rows {
		part := partition{name: row.Name}
		isLast := i == len(rows)-1
		if row.Before != "MAXVALUE" {
			if part.before, err = store.ParseTime(strings.Trim(row.Before, "'")); err != nil {
				return nil, fmt.Errorf("%w: the partition %s ends before %s", ErrPartitions, row.Name, row.Before)
			}
		}
		if isLast != part.before.IsZero() || isLast && part.name != laterPartition || !validPartition(part.name) {
			break
		}
		list = append(list, part)
	}
	if len(list) == 0 || len(list) < len(rows) {
		return nil, fmt.Errorf("%w: the last partition of %s%s is to be %s, for all that is later", ErrPartitions, p.tables.Prefix, of.name, laterPartition)
	}
	return list, nil
}

// validPartition holds names to what needs no quotes.
func validPartition(name string) bool {
	return prescient.ValidIdentifier("partition", name) == nil && !strings.ContainsAny(name, ".-")
}
