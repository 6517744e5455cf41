package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
	"prescient/sql/migrate"
	"prescient/sql/rights"
)

// MaxAccounts bounds how many accounts are looked at.
const MaxAccounts = 200

// Account is one that has rights on the tables.
type Account struct {
	User string `db:"User"`
	Host string `db:"Host"`
}

// Name is that of the account, as it stands in a GRANT: one without a host is a role of MariaDB, or PUBLIC.
func (a Account) Name() string {
	switch {
	case a.Host == "" && a.User == "PUBLIC":
		return a.User
	case a.Host == "":
		return literalOf(a.User)
	}
	return literalOf(a.User) + "@" + literalOf(a.Host)
}

func literalOf(name string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(name) + "'"
}

// Surplus is an account, the roles by which it was judged, if any, and the rights that none of these gives.
type Surplus struct {
	Account
	Roles []string
	Has   rights.Set
}

// Looked is what a look at the accounts came to.
type Looked struct {
	Self    Account // of the connection
	Surplus []Surplus
	Looked  int  // accounts that were looked at
	Unseen  bool // other accounts were not, since this one may not
	Many    bool // only the first MaxAccounts were
	Unread  bool // which roles accounts were given could not be read
}

// FindSurplus looks for accounts that have rights on the tables which none of their roles gives: what the account of the connection, whose
// role this is, may read of that.
func FindSurplus(ctx context.Context, db *sqlx.DB, tables *store.Tables, role string) (Looked, error) {
	names, err := migrate.EverMade(tables.Prefix)
	if err != nil {
		return Looked{}, err
	}
	var database, self string
	if err := store.QueryRow(ctx, db, []any{&database, &self}, "SELECT DATABASE(), CURRENT_USER()"); err != nil {
		return Looked{}, err
	}
	var found Looked
	found.Self.User, found.Self.Host, _ = strings.Cut(self, "@")
	recorded, err := recordedRoles(ctx, db, tables)
	if found.Unread = errno.Denied(err); err != nil && !found.Unread {
		return found, fmt.Errorf("reading which roles were given: %w", err)
	}
	list, err := accounts(ctx, db, tables)
	switch found.Unseen = errno.Denied(err); {
	case found.Unseen:
		list = []Account{found.Self}
	case err != nil:
		return found, fmt.Errorf("asking who has rights on the tables: %w", err)
	case len(list) > MaxAccounts:
		found.Many, list = true, list[:MaxAccounts]
	}
	for _, one := range list {
		asked := one.Name()
		if one == found.Self {
			asked = "CURRENT_USER()"
		}
		has, err := rights.Has(ctx, db, asked)
		if errors.Is(err, rights.ErrUnseen) {
			found.Unseen = true
			continue
		}
		if err != nil {
			return found, err
		}
		found.Looked++
		if has = has.Within(database, names); len(has) == 0 {
			continue
		}
		roles := recorded[one]
		if len(roles) == 0 && one == found.Self && !has.OnDatabases() {
			if roles = []string{role}; found.Unread && role == "app" {
				roles = append(roles, "app-reschedule") // which may be what it was given: it has more than app
			}
		}
		surplus, err := beyond(has, roles, database, tables)
		if err != nil {
			return found, err
		}
		if len(surplus) > 0 {
			found.Surplus = append(found.Surplus, Surplus{one, roles, surplus})
		}
	}
	return found, nil
}

// beyond is what an account has and its roles do not give. One of which no role is recorded may have what any gives; where it has rights on
// the whole database, it is taken for an owner.
func beyond(has rights.Set, roles []string, database string, tables *store.Tables) (rights.Set, error) {
	if len(roles) == 0 {
		if has.OnDatabases() {
			return nil, nil
		}
		roles = slices.DeleteFunc(text.Roles(), func(role string) bool { return role == "owner" })
	}
	var given []string
	for _, role := range roles {
		_, statements, err := text.Grants(role, text.Account{Database: database, Prefix: tables.Prefix, User: "x",
			Dialect: tables.Dialect, Server: tables.Server})
		if err != nil && !errors.Is(err, text.ErrGrant) { // a role that somebody made up gives nothing
			return nil, err
		}
		given = append(given, statements...)
	}
	return has.Beyond(rights.Parse(given)), nil
}

// accounts are those that have rights on the database or on something in it.
func accounts(ctx context.Context, db *sqlx.DB, tables *store.Tables) (list []Account, err error) {
	for _, query := range []string{"operate/grantees_tables", "operate/grantees_routines"} {
		var some []Account
		err := db.SelectContext(ctx, &some, tables.Stmt.Get(query))
		if err != nil && !errno.Is(err, errno.NoSuchTable) { // TiDB knows no procedures
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b Account) int {
		return cmp.Or(strings.Compare(a.User, b.User), strings.Compare(a.Host, b.Host))
	})
	return slices.Compact(list), nil
}

// recordedRoles are the roles of accounts, by what the audit has: those of the last entry, which has all that an account is to have. Entries
// of before have one role each, and count together. What an account says of itself does not count.
func recordedRoles(ctx context.Context, db *sqlx.DB, tables *store.Tables) (map[Account][]string, error) {
	var entries []struct {
		By    string `db:"account"`
		Given string `db:"after_change"`
	}
	query := strings.ReplaceAll(tables.Stmt.Get("operate/granted"), "{stream}", text.InstallationStream)
	if err := db.SelectContext(ctx, &entries, query); err != nil {
		return nil, err
	}
	roles := make(map[Account][]string)
	for _, entry := range entries {
		var given struct {
			Role, User, Host string
			Roles            []string
		}
		if json.Unmarshal([]byte(entry.Given), &given) != nil {
			continue
		}
		to := Account{given.User, given.Host}
		switch by, _, _ := strings.Cut(entry.By, "@"); {
		case by == given.User:
		case given.Role != "" && !slices.Contains(roles[to], given.Role):
			roles[to] = append(roles[to], given.Role)
		case len(given.Roles) > 0:
			roles[to] = given.Roles
		}
	}
	return roles, nil
}
