package known

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Every is how often a worker says that it still has its job_execs.
const Every = time.Hour

// Teller tells what a worker has.
type Teller struct {
	Send   *store.Sender
	Tables *store.Tables
	Worker string
	Execs  []Exec
}

// Tell writes the job_execs that are not in exec_known as the worker has them, or were not for most of an hour. Several workers that have the
// same tell it once.
func (t *Teller) Tell(ctx context.Context) error {
	if len(t.Execs) == 0 {
		return nil
	}
	fresh, err := t.fresh(ctx)
	if err != nil {
		return err
	}
	var rows []byte
	for _, e := range t.Execs {
		if fresh[key{e.Name, e.Fingerprint}] {
			continue
		}
		if rows != nil {
			rows = append(rows, ',')
		}
		rows = append(literal.AppendText(append(rows, '('), e.Name), ',')
		rows = append(literal.AppendBytes(rows, []byte(e.Fingerprint)), ',')
		rows = append(literal.AppendText(rows, e.Form), ',')
		rows = append(literal.AppendJSON(rows, e.Guards), ',')
		rows = append(literal.AppendText(rows, t.Worker), ",UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))"...)
	}
	if rows == nil {
		return nil
	}
	if _, err := t.Send.Exec(ctx, t.Tables.Fill("known/tell", "{rows}", string(rows))); err != nil {
		return fmt.Errorf("telling which job_execs there are: %w", err)
	}
	return nil
}

// key is that of exec_known.
type key struct{ name, fingerprint string }

// fresh are those that somebody told of less than an hour ago, or nearly.
func (t *Teller) fresh(ctx context.Context) (map[key]bool, error) {
	names := make([]string, len(t.Execs))
	for i, e := range t.Execs {
		names[i] = e.Name
	}
	var told []key
	err := t.Send.Query(ctx, func(ctx context.Context) (err error) {
		told, err = store.Rows(ctx, t.Send.DB, "reading which job_execs are known", t.Tables.Fill("known/fresh", "{job_execs}", literal.List(literal.AppendText, names)),
			func(k *key) []any { return []any{&k.name, &k.fingerprint} }, (Every * 9 / 10).Microseconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	fresh := make(map[key]bool, len(told))
	for _, k := range told {
		fresh[k] = true
	}
	return fresh, nil
}
