package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"prescient/prescient"
	"prescient/sql"
)

// repairReport is what migrate --repair --json prints.
type repairReport struct {
	Restored []repairedThing `json:"restored"`
	Left     []repairedThing `json:"left"`
	// Callers were granted again to call the procedure; CallersUnknown: others may have to be.
	Callers        []string `json:"callers,omitempty"`
	CallersUnknown bool     `json:"callers_unknown,omitempty"`
}

type repairedThing struct {
	What string   `json:"what"`
	Why  string   `json:"why,omitempty"`
	DDL  []string `json:"ddl,omitempty"`
}

// repair restores what the migrations made; with dry it only says what it would send.
func (a *app) repair(cmd *cobra.Command, s *session, dry bool) error {
	var did sql.Repaired
	var err error
	if dry {
		if did.Left, err = sql.Damages(cmd.Context(), s.db.DB, s.schema()); err != nil {
			return s.explain(err)
		}
		return a.printDamages(cmd, did.Left)
	}
	if did, err = sql.Repair(cmd.Context(), s.db.DB, s.schema()); err != nil {
		return s.explain(err)
	}
	return a.printRepaired(cmd, did)
}

func (a *app) printDamages(cmd *cobra.Command, damages []sql.Damage) error {
	out := cmd.OutOrStdout()
	if a.json {
		return printJSON(out, repairReport{Restored: []repairedThing{}, Left: things(damages)})
	}
	for _, d := range damages {
		if err := say(out, "-- %s", d.Text); err != nil {
			return err
		}
		if d.Lost != "" {
			if err := say(out, "-- not by --repair: %s", d.Lost); err != nil {
				return err
			}
		}
		for _, statement := range d.DDL {
			// As a client takes it: a procedure holds semicolons.
			if strings.Contains(statement, ";") {
				statement = "DELIMITER //\n" + statement + "\n//\nDELIMITER "
			}
			if _, err := io.WriteString(out, statement+";\n"); err != nil {
				return err
			}
		}
	}
	if len(damages) == 0 {
		return say(out, "-- there is nothing to restore")
	}
	return nil
}

func (a *app) printRepaired(cmd *cobra.Command, did sql.Repaired) error {
	out := cmd.OutOrStdout()
	if a.json {
		if err := printJSON(out, repairReport{things(did.Done), things(did.Left), did.Callers, did.CallersUnknown}); err != nil {
			return err
		}
		return leftUnrepaired(did)
	}
	var err error
	for _, d := range did.Done {
		err = errors.Join(err, say(out, "restored %s", d.What()))
	}
	for _, account := range did.Callers {
		err = errors.Join(err, say(out, "granted %s again to call the procedure", account))
	}
	if did.CallersUnknown {
		err = errors.Join(err, say(out, "%s", a.grantCallers()))
	}
	for _, d := range did.Left {
		err = errors.Join(err, say(out, "not restored: %s: %s", d.What(), d.Lost))
		for _, statement := range d.DDL {
			err = errors.Join(err, say(out, "      → %s", strings.Join(strings.Fields(statement), " ")))
		}
	}
	if len(did.Done)+len(did.Left) == 0 {
		err = errors.Join(err, say(out, "there was nothing to restore"))
	}
	return errors.Join(err, leftUnrepaired(did))
}

// leftUnrepaired is the error of a repair that could not mend all.
func leftUnrepaired(did sql.Repaired) error {
	if len(did.Left) == 0 {
		return nil
	}
	return &coded{code: ExitTables, err: fmt.Errorf("%d things are not restored", len(did.Left)), said: true}
}

func things(damages []sql.Damage) []repairedThing {
	list := make([]repairedThing, 0, len(damages))
	for _, d := range damages {
		list = append(list, repairedThing{d.What(), d.Lost, d.DDL})
	}
	return list
}

// migrateForRepair brings the tables up to date as far as they are there; what is missing, the repair tells.
func (a *app) migrateForRepair(cmd *cobra.Command, dry bool) error {
	s, err := a.open(cmd, migrationLease)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.newClient(cmd.Context()); err != nil && !errors.Is(err, prescient.ErrNotMigrated) {
		return err
	}
	missing, err := s.missing(cmd.Context())
	switch {
	case err != nil:
		return err
	case missing > 0 && dry:
		return &coded{code: ExitTables, err: fmt.Errorf("%d migrations are missing; %s migrate applies them", missing, a.options.Program)}
	case missing > 0:
		applied, err := sql.Up(cmd.Context(), s.db.DB, s.schema())
		if err != nil {
			return s.stopped(cmd, applied, err)
		}
		if !a.json {
			if err := s.printMigrated(cmd, applied, "applied", ""); err != nil {
				return err
			}
		}
	}
	return a.repair(cmd, s, dry)
}
