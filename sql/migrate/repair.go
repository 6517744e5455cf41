package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	text "prescient/sql"
)

// ErrReslotting is returned where a change of the resolution is unfinished: only reslot may alter the tables then.
var ErrReslotting = errors.New("the resolution is being changed")

// Repaired is what Repair did.
type Repaired struct {
	// Done are the damages that it mended, Left those that it could not: each says why.
	Done, Left []Damage
	// Callers are the accounts that were granted again to call a procedure that was made anew.
	Callers []string
	// CallersUnknown says that a procedure was made anew, and that accounts that call it may have to be granted that again.
	CallersUnknown bool
}

// Repair restores the procedures, views, defaults, CHECKs and indexes that the migrations made, where they are missing or
// are others. All migrations have to be applied. It touches no row, adds no column and no table, and grants nothing but the
// calls of a procedure that it makes anew. It may be run at any time, and again: what is as it should be stays. The slots
// of the DEFAULT and the CHECK are those of slot_config, whatever s.Resolution is.
func Repair(ctx context.Context, db *sql.DB, s Schema) (did Repaired, err error) {
	if s.Server, s.Dialect, err = s.Dialect.Choose(ctx, db); err != nil {
		return did, err
	}
	unlock, err := s.Lock(ctx, db)
	if err != nil {
		return did, err
	}
	defer unlock()
	err = s.altering(ctx, db, func(ddl *DDL) error { return s.repair(ctx, db, ddl, &did) })
	return did, err
}

// repair mends in rounds.
func (s Schema) repair(ctx context.Context, db *sql.DB, ddl *DDL, did *Repaired) error {
	// What the server has after each round is what counts. One does not always do: MySQL, which takes a DEFAULT for a column
	// that lost it, shows none for a BINARY one until it is set again.
	const rounds = 3
	failed := make(map[string]error)
	for round := range rounds {
		found, err := s.damages(ctx, db)
		if err != nil {
			return err
		}
		tried := false
		left := make(map[string]bool)
		did.Left = nil
		for _, d := range found {
			key := d.What()
			left[key] = true
			if round == 0 {
				did.Done = append(did.Done, d)
			}
			if d.Lost == "" && failed[key] == nil && round < rounds-1 {
				tried = true
				if failed[key] = s.mend(ctx, db, ddl, d, did); ctx.Err() != nil {
					return ctx.Err()
				}
				continue
			}
			d.Held = errors.Is(failed[key], ErrHeld)
			if d.Lost == "" {
				d.Lost, d.Again = s.whyNot(d, failed[key]), true
			}
			did.Left = append(did.Left, d)
		}
		if !tried {
			did.Done = slices.DeleteFunc(did.Done, func(d Damage) bool { return left[d.What()] })
			break
		}
	}
	return nil
}

// mend sends the statements of one damage.
func (s Schema) mend(ctx context.Context, db *sql.DB, ddl *DDL, d Damage, did *Repaired) error {
	before := s.callersOf(ctx, db)
	for _, statement := range d.DDL {
		if err := ddl.Exec(ctx, statement); err != nil {
			return err
		}
	}
	switch {
	case d.gone: // nobody knows any more who might call it
		did.CallersUnknown = true
	case d.isProcedure() && s.Server != text.MariaDB:
		granted, lost := before.again(ctx, db, d.Of)
		did.Callers, did.CallersUnknown = append(did.Callers, granted...), did.CallersUnknown || lost
	}
	return nil
}

// Damages is what Repair would look at: all that Compare finds, at the resolution that slot_config has. Where slot_config
// is empty, only that is told.
func Damages(ctx context.Context, db *sql.DB, s Schema) (found []Damage, err error) {
	if s.Server, s.Dialect, err = s.Dialect.Choose(ctx, db); err != nil {
		return nil, err
	}
	return s.damages(ctx, db)
}

// damages leaves the resolution that slot_config has in s.
func (s *Schema) damages(ctx context.Context, db *sql.DB) ([]Damage, error) {
	var seconds, to, migrated int64
	err := db.QueryRowContext(ctx, "SELECT resolution_s, COALESCE(resolution_to_s, 0), migrated_to FROM "+s.Prefix+"slot_config WHERE id = 1").Scan(&seconds, &to, &migrated)
	switch {
	case err == nil && to != 0:
		return nil, fmt.Errorf("%w from %s to %s: run reslot to its end first", ErrReslotting, time.Duration(seconds)*time.Second, time.Duration(to)*time.Second)
	case err == nil:
		s.Resolution = time.Duration(seconds) * time.Second
	case noSuchTable(err), errors.Is(err, sql.ErrNoRows), refused(err, errNoSuchColumn):
		// The comparison says what is missing; an empty slot_config is none that it sees.
		if errors.Is(err, sql.ErrNoRows) {
			return []Damage{{Kind: DamagedTable, Of: s.Prefix + "slot_config", Text: "table " + s.Prefix + "slot_config is empty",
				Lost: fmt.Sprintf("repair writes no rows: put the row back by the statement, after a look whether resolution_s is right. %s is what is configured here; "+
					"it must be the resolution for which the rows were made", s.Resolution),
				DDL: []string{fmt.Sprintf("INSERT INTO %sslot_config (id, resolution_s, migrated_to) VALUES (1, %d, %d)", s.Prefix, int64(s.Resolution/time.Second), s.version())}}}, nil
		}
	default:
		return nil, fmt.Errorf("reading slot_config: %w", err)
	}
	found, err := s.Compare(ctx, db)
	if err != nil {
		return nil, err
	}
	if seconds == 0 { // of unknown resolution: mend nothing that depends on it
		for i, d := range found.Damages {
			if d.Lost == "" {
				found.Damages[i].Lost = "restore slot_config first, which says what the slots are"
			}
		}
	}
	if seconds != 0 && migrated < s.version() {
		found.Damages = append(found.Damages, Damage{Kind: DamagedTable, Of: s.Prefix + "slot_config",
			Text: fmt.Sprintf("%sslot_config says that the tables are of version %d", s.Prefix, migrated),
			Lost: "repair writes no rows: where all migrations were applied, say so by the statement",
			DDL:  []string{fmt.Sprintf("UPDATE %sslot_config SET migrated_to = %d", s.Prefix, s.version())}})
	}
	return found.Damages, nil
}

// whyNot says why a statement came to nothing, and what helps.
func (s Schema) whyNot(d Damage, err error) string {
	switch {
	case err == nil:
		return "the statement went through, but changed nothing"
	case refused(err, errCheckMySQL, errCheckMariaDB) && strings.HasSuffix(d.Name, "_on_grid"):
		return fmt.Sprintf("rows have times that are no slots. `reslot --resolution %s` moves these rows and adds the check; nothing runs meanwhile", s.Resolution)
	case refused(err, errCheckMySQL, errCheckMariaDB) && strings.HasSuffix(d.Name, "future_job_payload_size"):
		return "there are rows of before with longer payloads: they run, and end; then repair again"
	case refused(err, errCheckMySQL, errCheckMariaDB) && strings.HasSuffix(d.Name, "future_job_named"):
		return "there are rows of before without an entity_name, entity_key or job_exec: cancel them by plain SQL (" +
			"CALL " + s.Prefix + "cancel(entity_name, entity_key, NULL)) or let them end; then repair again"
	case strings.HasSuffix(d.Name, "future_job_calendar") && refused(err, errWrongDate, errCheckMySQL, errCheckMariaDB):
		_, holds, _ := strings.Cut(d.DDL[0], " CHECK ")
		return fmt.Sprintf("there are rows with times that are no days of the calendar: DELETE FROM %s WHERE NOT %s, then repair again", d.Of, holds)
	case refused(err, errCheckMySQL, errCheckMariaDB):
		_, holds, _ := strings.Cut(d.DDL[0], " CHECK ")
		how := "UPDATE or DELETE them, or let them come to their end"
		if d.Of == s.Prefix+"future_job" { // the command cancel does not take every name
			how = "end each by CALL " + s.Prefix + "cancel(entity_name, entity_key, job_exec)"
		}
		return fmt.Sprintf("there are rows that it refuses: SELECT %s FROM %s WHERE NOT %s lists them; %s, then repair again", s.namesOf(d.Of), d.Of, holds, how)
	case refused(err, errDuplicateKey):
		return "there are rows that are the same to it: " + plainly(err)
	case errors.Is(err, ErrHeld):
		return err.Error() + ": end that transaction (`blocking` names the statement), then repair again"
	case ofSystemUser(err) != "":
		return ofSystemUser(err) + ": repair by such an account"
	}
	return plainly(err)
}

// namesOf are the columns by which a person knows a row of a table.
func (s Schema) namesOf(table string) string {
	if table == s.Prefix+"future_job" {
		return "entity_name, entity_key, job_exec, tag"
	}
	tables, _ := s.Expected() // Compare has read them
	for _, t := range tables {
		if t.Name == table {
			return strings.TrimSuffix(strings.TrimPrefix(t.Definition("index", "PRIMARY"), "PRIMARY KEY ("), ")")
		}
	}
	return "*"
}
