package rule

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// A change, and transactions that are open. An app reads all rules by one SELECT in its own transaction, whatever snapshot that has, and keeps them for
// Lasts. It locks none, unless it is SERIALIZABLE: a procedure never copies from rule by INSERT … SELECT, which locks under REPEATABLE READ. A change locks
// one row of rule until it commits. So neither waits for the other.
//
// What an app goes by is as old as Lasts, or as the transaction that read it, and its insert may commit after every walk. The check bears the version that
// made it, and so nothing is lost:
//
//   - A walk moves what is pending, by the primary key, until a pass that began a second more than Lasts after the change finds nothing.
//   - What comes later its slot run meets, which reads the rules after the rows. It moves a check whose new time is to come. It calls one whose new time is
//     over, and counts it as late where the new version would have had it called sooner. It ends what is to end.
//
// History has neither column: tag and inserted_at tell the rule, and to some seconds version and occasion. So an end costs what it did before there were
// rules. On Vitess the commands write both tables on each shard, where they are reference tables.

// Known is a rule as it stands, with what its current version says.
type Known struct {
	Standing
	Rule
}

// ReadAll reads all rules, by their names, by one statement that locks none.
func ReadAll(ctx context.Context, db prescient.DB, tables *store.Tables) ([]Known, error) {
	return store.Rows(ctx, db, "reading the rules", tables.Stmt.Get("rule/known"), func(k *Known) []any {
		return k.Into()
	})
}

// Into is where the columns of rule/known go.
func (k *Known) Into() []any {
	return append([]any{store.Text(func(name string) error {
		k.Standing.Name, k.Rule.Name = name, name
		return nil
	}), &k.Version, &k.Occasion, &k.JobExec, &k.State, store.At(&k.Since), &k.MovedTo, &k.EndedTo}, k.Rule.Into()...)
}

// Into is where the columns go that a version has.
func (r *Rule) Into() []any {
	return []any{store.Seconds(&r.Delay), store.Seconds(&r.Spread), store.Seconds(&r.ExpiresAfter), &r.OnPending, store.Text(func(ends string) error {
		if ends != "" {
			r.Ends = strings.Split(ends, ",")
		}
		return nil
	}), store.Unhex(&r.Payload), store.OrZero(&r.MaxChecks), store.OrZero(&r.MaxErrors)}
}

// StandingOf reads how some rules stand; those that are not there are left out.
func StandingOf(ctx context.Context, db prescient.DB, tables *store.Tables, names []string) (map[string]Standing, error) {
	all, err := store.Rows(ctx, db, "reading how rules stand", tables.Fill("rule/standing", "{names}", literal.List(literal.AppendText, names)), func(s *Standing) []any {
		return []any{&s.Name, &s.Version, &s.State, store.At(&s.Since), &s.MovedTo, &s.EndedTo}
	})
	by := make(map[string]Standing, len(all))
	for _, s := range all {
		by[s.Name] = s
	}
	return by, err
}

// Of names one version of a rule.
type Of struct {
	Name    string
	Version uint32
}

// Versions are what versions of rules say, as far as they were asked for: they never change. They are for concurrent use.
type Versions struct {
	mu sync.Mutex
	by map[Of]Rule
}

// maxVersions bounds how many are remembered.
const maxVersions = 10_000

// Read returns what some versions say; those that are not there are left out.
func (v *Versions) Read(ctx context.Context, db prescient.DB, tables *store.Tables, asked []Of) (map[Of]Rule, error) {
	found := make(map[Of]Rule, len(asked))
	var missing []Of
	v.mu.Lock()
	for _, of := range asked {
		if r, known := v.by[of]; known {
			found[of] = r
		} else {
			missing = append(missing, of)
		}
	}
	v.mu.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	condition := literal.Join(" OR ", func(b []byte, of Of) []byte {
		b = literal.AppendText(append(b, "says.rule = "...), of.Name)
		return literal.AppendUint(append(b, " AND says.version = "...), uint64(of.Version))
	}, missing)
	type row struct {
		version uint32
		rule    Rule
	}
	rows, err := store.Rows(ctx, db, "reading versions of rules", tables.Fill("rule/version", "{versions}", condition), func(r *row) []any {
		return append([]any{&r.rule.Name, &r.version, &r.rule.Occasion, &r.rule.JobExec}, r.rule.Into()...)
	})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by == nil || len(v.by) > maxVersions {
		v.by = make(map[Of]Rule)
	}
	for _, r := range rows {
		of := Of{r.rule.Name, r.version}
		v.by[of], found[of] = r.rule, r.rule
	}
	return found, nil
}

// NotThere says whether a version was asked for that is not there, as an error that wraps prescient.ErrNotFound.
func (of Of) NotThere() error {
	return fmt.Errorf("%w: version %d of rule %s", prescient.ErrNotFound, of.Version, of.Name)
}
