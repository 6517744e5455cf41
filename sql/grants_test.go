package sql

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestGrantsNameTheTablesOfTheInstallation(t *testing.T) {
	comment, statements, err := Grants("app", Account{Database: "my`shop_1", Prefix: "p_", User: "shop.app"})
	if err != nil || !strings.HasPrefix(comment, "-- An app ") || len(statements) != 22 {
		t.Fatalf("%q, %q, %v", comment, statements, err)
	}
	if want := "GRANT EXECUTE ON PROCEDURE `my``shop_1`.`p_cancel` TO 'shop.app'@'%'"; statements[19] != want {
		t.Errorf("%s; want %s", statements[19], want)
	}
	_, statements, err = Grants("owner", Account{Database: "my_shop%", User: "o", Host: "10.0.0.0/255.0.0.0"})
	if err != nil || len(statements) != 1 || !strings.HasSuffix(statements[0], " ON `my\\_shop\\%`.* TO 'o'@'10.0.0.0/255.0.0.0'") {
		t.Errorf("%q, %v", statements, err)
	}
}

func TestNoGrantHasAWordInBracesLeft(t *testing.T) {
	for _, role := range Roles() {
		comment, statements, err := Grants(role, Account{Database: "shop", User: "u"})
		if err != nil || comment == "" || len(statements) == 0 {
			t.Errorf("%s: %q, %q, %v", role, comment, statements, err)
		}
		for _, statement := range statements {
			if strings.ContainsAny(statement, "{};\n") {
				t.Errorf("%s: %s", role, statement)
			}
		}
	}
}

func TestWhatCannotStandInAGrantIsRefused(t *testing.T) {
	good := Account{Database: "shop", User: "u", Host: "h"}
	for name, change := range map[string]func(a *Account){
		"no user":              func(a *Account) { a.User = "" },
		"a quote in the user":  func(a *Account) { a.User = "u'@'h" },
		"a backslash":          func(a *Account) { a.User = `u\` },
		"a line end":           func(a *Account) { a.User = "u\n" },
		"a user too long":      func(a *Account) { a.User = strings.Repeat("u", 33) },
		"a quote in the host":  func(a *Account) { a.Host = "h' IDENTIFIED BY '" },
		"a blank in the host":  func(a *Account) { a.Host = "h h" },
		"no database":          func(a *Account) { a.Database = "" },
		"a line in a database": func(a *Account) { a.Database = "shop\n-- " },
	} {
		a := good
		change(&a)
		if _, statements, err := Grants("app", a); !errors.Is(err, ErrGrant) || statements != nil {
			t.Errorf("%s: %q, %v", name, statements, err)
		}
	}
	if _, _, err := Grants("root", good); !errors.Is(err, ErrGrant) {
		t.Error(err)
	}
	good.Prefix = "P`"
	if _, _, err := Grants("app", good); !errors.Is(err, ErrPrefix) {
		t.Error(err)
	}
}

func TestGrantsInPlainCallNoProcedure(t *testing.T) {
	for _, role := range Roles() {
		_, full, err := Grants(role, Account{Database: "shop", User: "app"})
		if err != nil {
			t.Fatal(err)
		}
		_, plain, err := Grants(role, Account{Database: "shop", User: "app", Dialect: Plain})
		if err != nil || len(plain) == 0 {
			t.Fatalf("%s: %v, %v", role, plain, err)
		}
		if text := strings.Join(plain, "\n"); strings.Contains(text, "PROCEDURE") {
			t.Errorf("%s: %s", role, text)
		}
		if role == "app-sql" { // gives what the defaults would
			if text := strings.Join(plain, "\n"); !strings.Contains(text, "job_key, first_check_at, next_check_at") || !strings.Contains(text, "`slot_config`") {
				t.Errorf("%s: %s", role, text)
			}
			// Of a schedule it may name the same, and when it was made.
			ofSchedule := func(s string) bool { return strings.Contains(s, " ON `shop`.`schedule` TO ") }
			inFull, inPlain := full[slices.IndexFunc(full, ofSchedule)], plain[slices.IndexFunc(plain, ofSchedule)]
			if strings.Replace(inPlain, ", created_at)", ")", 1) != inFull {
				t.Errorf("%s: %s in plain, %s in full", role, inPlain, inFull)
			}
			continue
		}
		for i, s := range full {
			s = strings.NewReplacer("payload, revision, expires_at, trace, rule_version, occasion_at)", "payload, revision, inserted_at, expires_at, trace, rule_version, occasion_at)", "INSERT (stream, ", "INSERT (at, account, entry, stream, ", ", CREATE ROUTINE, ALTER ROUTINE, EXECUTE", "").Replace(s)
			if !strings.Contains(s, "PROCEDURE") && (i >= len(plain) || plain[i] != s) {
				t.Errorf("%s: plain has %q; want %s", role, plain, s)
			}
		}
	}
}

func TestGrantsForTiDBNameNeitherProceduresNorColumnsToWrite(t *testing.T) {
	for _, role := range Roles() {
		_, statements, err := Grants(role, Account{Database: "shop", User: "app", Server: TiDB})
		if err != nil || len(statements) == 0 {
			t.Fatalf("%s: %v, %v", role, statements, err)
		}
		for _, s := range statements {
			if strings.Contains(s, "PROCEDURE") || strings.Contains(s, "INSERT (") || strings.Contains(s, "SELECT (") || strings.Contains(s, "UPDATE (") {
				t.Errorf("%s: %s", role, s)
			}
		}
	}
}

func TestRolesAreFoundByTheRightThatTheyHave(t *testing.T) {
	for _, test := range []struct {
		right, name, column string
		want                []string
	}{
		{"DELETE", "future_job", "", []string{"app", "app-reschedule", "worker", "oncall", "owner"}},
		{"UPDATE", "future_job", "due_at", []string{"app-reschedule", "worker", "oncall", "owner"}},
		{"INSERT", "future_job", "check_count", []string{"worker", "oncall", "owner"}},
		{"DELETE", "job_pause", "", []string{"operator", "oncall", "owner"}},
		{"EXECUTE", "pending", "", []string{"app-sql", "app", "app-reschedule", "worker", "oncall", "owner"}},
		{"EXECUTE", "put", "", []string{"app-sql", "owner"}},
		{"EXECUTE", "cancel", "", []string{"app-sql", "app", "app-reschedule", "worker", "oncall", "owner"}},
		{"UPDATE", "slot_config", "", []string{"owner"}},
		{"SELECT", "of others", "", []string{"owner"}},
	} {
		if got := RolesWith(test.right, test.name, test.column, Full); !slices.Equal(got, test.want) {
			t.Errorf("%s on %s (%s): %q; want %q", test.right, test.name, test.column, got, test.want)
		}
	}
}

// Who is on call may do what an operator and a worker may, and in bulk.
func TestOncallIsOperatorAndWorker(t *testing.T) {
	for _, dialect := range []Dialect{Full, Plain} {
		has := func(role string) map[string]bool {
			rights, _ := Rights(role, dialect)
			all := make(map[string]bool)
			for name, text := range rights {
				for _, right := range regexp.MustCompile(`[A-Z]+( \([^)]*\))?`).FindAllString(text, -1) {
					all[name+" "+right] = true
				}
			}
			return all
		}
		oncall, both := has("oncall"), has("operator")
		maps.Copy(both, has("worker"))
		for right := range oncall {
			if !both[right] && !strings.HasPrefix(right, "bulk_") { // deeds to many checks, which it does as both
				t.Errorf("%s: oncall has %s, and neither has", dialect, right)
			}
		}
		for right := range both {
			if whole, _, _ := strings.Cut(right, " ("); !oncall[right] && !oncall[whole] {
				t.Errorf("%s: oncall lacks %s", dialect, right)
			}
		}
	}
}
