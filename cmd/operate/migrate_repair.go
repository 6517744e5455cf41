package operate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/sql/migrate"
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
func repair(cmd *cobra.Command, prog *program.Program, s *program.Session, dry bool, patience time.Duration) error {
	var did migrate.Repaired
	var err error
	if dry {
		if did.Left, err = migrate.Damages(cmd.Context(), s.DB.DB, schemaOf(s)); err != nil {
			return s.Explain(err)
		}
		return printDamages(cmd, prog, did.Left)
	}
	if did, err = migrate.Repair(cmd.Context(), s.DB.DB, alteringSchema(s, patience)); err != nil {
		return s.Explain(err)
	}
	return printRepaired(cmd, prog, did)
}

func printDamages(cmd *cobra.Command, prog *program.Program, damages []migrate.Damage) error {
	out := cmd.OutOrStdout()
	if prog.JSON {
		return output.JSON(out, repairReport{Restored: []repairedThing{}, Left: things(damages)})
	}
	p := output.To(out)
	for _, d := range damages {
		p.Say("-- %s", d.Text)
		if d.Lost != "" {
			p.Say("-- not by --repair: %s", d.Lost)
		}
		sayStatements(p, d.DDL)
	}
	if len(damages) == 0 {
		p.Say("-- there is nothing to restore")
	}
	return p.Err()
}

// sayStatements prints statements as a client takes them.
func sayStatements(p *output.Printer, statements []string) {
	for _, statement := range statements {
		if strings.Contains(statement, ";") { // a procedure holds some
			statement = "DELIMITER //\n" + statement + "\n//\nDELIMITER "
		}
		p.Text(statement + ";\n")
	}
}

func printRepaired(cmd *cobra.Command, prog *program.Program, did migrate.Repaired) error {
	p := output.To(cmd.OutOrStdout())
	if prog.JSON {
		p.JSON(repairReport{things(did.Done), things(did.Left), did.Callers, did.CallersUnknown})
		return errors.Join(p.Err(), leftUnrepaired(did))
	}
	for _, d := range did.Done {
		p.Say("restored %s", d.What())
	}
	for _, account := range did.Callers {
		p.Say("granted %s again to call the procedure", account)
	}
	if did.CallersUnknown {
		p.Say("%s", grantCallers(prog))
	}
	for _, d := range did.Left {
		p.Say("not restored: %s: %s", d.What(), d.Lost)
		what := "→"
		if d.Again {
			what = "The next repair sends again:"
		}
		for _, statement := range d.DDL {
			p.Say("      %s %s", what, strings.Join(strings.Fields(statement), " "))
		}
	}
	if len(did.Done)+len(did.Left) == 0 {
		p.Say("there was nothing to restore")
	}
	return errors.Join(p.Err(), leftUnrepaired(did))
}

// leftUnrepaired is the error of a repair that could not mend all.
func leftUnrepaired(did migrate.Repaired) error {
	if len(did.Left) == 0 {
		return nil
	}
	code := exit.CodeTables
	if !slices.ContainsFunc(did.Left, func(d migrate.Damage) bool { return !d.Held }) {
		code = exit.CodeHeld
	}
	return &exit.Error{Code: code, Err: fmt.Errorf("%s not restored", words.Counted(len(did.Left), "thing is", "things are")), Printed: true}
}

func things(damages []migrate.Damage) []repairedThing {
	list := make([]repairedThing, 0, len(damages))
	for _, d := range damages {
		list = append(list, repairedThing{d.What(), d.Lost, d.DDL})
	}
	return list
}

// migrateForRepair brings the tables up to date as far as they are there; what is missing, the repair tells.
func migrateForRepair(cmd *cobra.Command, prog *program.Program, dry bool, patience time.Duration) error {
	return openToMigrate(cmd, prog, func(s *program.Session) error {
		missing, err := countMissing(cmd.Context(), s)
		switch {
		case err != nil:
			return err
		case missing > 0 && dry:
			return &exit.Error{Code: exit.CodeTables, Err: fmt.Errorf("migrations are missing (%d). Run `%s migrate` first", missing, prog.Name)}
		case missing > 0:
			applied, err := migrate.Up(cmd.Context(), s.DB.DB, alteringSchema(s, patience))
			if err != nil {
				return stoppedMidway(cmd, s, applied, "applied", err)
			}
			if !prog.JSON {
				if err := printMigrated(cmd, s, applied, "applied", ""); err != nil {
					return err
				}
			}
		}
		return repair(cmd, prog, s, dry, patience)
	})
}
