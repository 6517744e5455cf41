package operate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/audit"
	"prescient/sql"
)

// auditFlags are the flags of audit.
type auditFlags struct {
	kind, id, person, account, verb, from, before, after string
	limit, search                                        int
}

// auditRow is what audit --json prints.
type auditRow struct {
	audit.Stored
	Cursor string `json:"cursor"`
}

// auditLimit is how many entries a page has unless told otherwise.
const auditLimit = 100

// Audit returns the command audit.
func Audit(prog *program.Program) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who changed what, when and why, the latest first",
		Long: `Lists the changes that people and programs made, the latest first, a page at a time: by which account of the database, which
person where one is known, through which door, and what changed of what. With --json each entry has all that is kept, with the
object before and after, and its cursor, with which --after goes on behind it.

Each entry was written in the transaction of the change. Those of schedules, jobs and steps have the version that the change made:
doctor finds a version that is missing, or there twice.

By id, by time and by cursor entries are found at once. By kind, person, account and verb they are looked for among --search
entries from the latest on; give --from and --before to look at other times.`,
		Example: fmt.Sprintf(`  %[1]s audit --kind schedule --id digest/7
  %[1]s audit --person ada --from now-7d --json`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return listAudit(cmd, prog, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "kind", "", "only of this kind: "+kindNames())
	flags.StringVar(&f.id, "id", "", "only of the object with this id, such as digest/7; of a check 'order/42 order-unshipped'")
	flags.StringVar(&f.person, "person", "", "only by this person")
	flags.StringVar(&f.account, "account", "", "only by this account of the database: app, or app@10.0.0.7")
	flags.StringVar(&f.verb, "verb", "", "only what was done so: create, update, delete, pause, resume, run, cancel, …")
	arguments.Time(flags, &f.from, "from", "only at this time or later: 2026-03-01 13:00 (UTC), now-1h")
	arguments.Time(flags, &f.before, "before", "only before this time")
	flags.StringVar(&f.after, "after", "", "go on behind the entry with this cursor, the last of the page before")
	arguments.Number(flags, &f.limit, "limit", auditLimit, 1, audit.MaxPage-1, fmt.Sprintf("entries on a page, %d at most", audit.MaxPage-1))
	arguments.Number(flags, &f.search, "search", audit.DefaultSearch, 1, math.MaxInt, "entries to look at, at most, where no index serves the filter")
	return cmd
}

// kindNames are all kinds, for people.
func kindNames() string {
	var names []string
	for _, kind := range audit.Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// check reads the flags as far as it can without the database.
func (f auditFlags) check() (audit.Filter, error) {
	filter := audit.Filter{Kind: audit.Kind(f.kind), ID: f.id, Person: f.person, Account: f.account, Verb: f.verb, After: f.after,
		Limit: f.limit + 1, Search: f.search}
	if f.kind != "" && !slices.Contains(audit.Kinds(), filter.Kind) {
		return filter, exit.Usage(fmt.Errorf("--kind %.80q: %s are allowed", f.kind, kindNames()))
	}
	return filter, nil
}

func listAudit(cmd *cobra.Command, prog *program.Program, f auditFlags) error {
	filter, err := f.check()
	if err != nil {
		return err
	}
	page := output.Page[audit.Stored]{Limit: f.limit, LatestFirst: true, Line: func(e audit.Stored) any { return auditRow{e, e.Cursor()} },
		None: "no entry of the audit matches", Columns: auditColumns, Cells: auditCells}
	return program.List(cmd, prog, page, func(s *program.Session) (found []audit.Stored, early *output.Early, err error) {
		filter := filter // a moment is that of each shard's clock
		if filter.Since, filter.Until, err = s.Period(cmd.Context(), f.from, f.before); err != nil {
			return nil, nil, err
		}
		log, err := audit.Open(cmd.Context(), s.DB, audit.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect)})
		if err != nil {
			return nil, nil, s.Explain(err)
		}
		found, err = log.List(cmd.Context(), s.DB, filter)
		if ended := new(audit.SearchedError); errors.As(err, &ended) {
			return found, &output.Early{Looked: ended.Looked, Reached: ended.Reached, After: ended.After, Of: "entries", Narrow: "--from and --before"}, nil
		}
		return found, nil, s.Explain(err)
	})
}

var auditColumns = []output.Column{{Title: "at (UTC)"}, {Title: "person"}, {Title: "account"}, {Title: "by"}, {Title: "did"},
	{Title: "kind"}, {Title: "id"}, {Title: "change"}, {Title: "reason"}}

func auditCells(e audit.Stored) []string {
	return []string{output.Second(&e.At), words.Clip(e.Person, 30), words.Clip(e.Account, 40), words.Clip(cmp.Or(e.Command, e.Program), 30), words.Clean(e.Verb),
		words.Clean(string(e.Kind)), words.Clip(e.ID, 60), words.Clip(changed(e.Before, e.After), 100), words.Clip(e.Reason, 60)}
}

// changed is what is different between two states of an object, for people: zone: UTC -> Europe/Berlin. Of one that was made or
// deleted it is nothing: the whole of it was.
func changed(before, after json.RawMessage) string {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return ""
	}
	names := maps.Clone(was)
	maps.Copy(names, is)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if string(was[name]) != string(is[name]) {
			list = append(list, fmt.Sprintf("%s: %s -> %s", name, plainly(was[name]), plainly(is[name])))
		}
	}
	return strings.Join(list, ", ")
}

// plainly is a value of JSON without its quotes, and - where there is none.
func plainly(value json.RawMessage) string {
	var text string
	switch {
	case value == nil:
		return "-"
	case json.Unmarshal(value, &text) == nil:
		return text
	}
	return string(value)
}
