package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prescient/prescient/internal/errno"
	text "prescient/sql"
	"prescient/sql/migrate"
	"prescient/sql/rights"
)

const (
	// maxGrantees bounds how many accounts are looked at.
	maxGrantees = 200
	// maxSurplus bounds how many of them are named.
	maxSurplus = 10
)

// grantee is an account that has rights on the tables.
type grantee struct {
	User string `db:"User"`
	Host string `db:"Host"`
}

// name is that of the account, as it stands in a GRANT: one without a host is a role of MariaDB, or PUBLIC.
func (g grantee) name() string {
	switch {
	case g.Host == "" && g.User == "PUBLIC":
		return g.User
	case g.Host == "":
		return literalOf(g.User)
	}
	return literalOf(g.User) + "@" + literalOf(g.Host)
}

func literalOf(name string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(name) + "'"
}

// examineSurplus looks for accounts that have rights on the tables which none of their roles gives: what the account of the connection may
// read of that.
func (d *doctor) examineSurplus(ctx context.Context) ([]Finding, error) {
	names, err := migrate.EverMade(d.tables.Prefix)
	if err != nil {
		return nil, err
	}
	var database, self string
	if err := d.db.QueryRowxContext(ctx, "SELECT DATABASE(), CURRENT_USER()").Scan(&database, &self); err != nil {
		return nil, err
	}
	recorded, unread, err := d.recordedRoles(ctx)
	if err != nil {
		return nil, err
	}
	user, host, _ := strings.Cut(self, "@")
	me := grantee{user, host}
	list, many, unseen, err := d.grantees(ctx)
	if err != nil {
		return nil, err
	}
	if unseen {
		list = []grantee{me}
	}
	var found []Finding
	looked := 0
	for _, g := range list {
		asked := g.name()
		if g == me {
			asked = "CURRENT_USER()"
		}
		has, err := rights.Has(ctx, d.db, asked)
		if errors.Is(err, rights.ErrUnseen) {
			unseen = true
			continue
		}
		if err != nil {
			return nil, err
		}
		looked++
		if has = has.Within(database, names); len(has) == 0 {
			continue
		}
		roles := recorded[g]
		if len(roles) == 0 && g == me && !has.OnDatabases() {
			if roles = []string{string(d.options.Use)}; unread && d.options.Use == UseApp {
				roles = append(roles, "app-reschedule") // which may be what it was given: it has more than app
			}
		}
		surplus, err := d.beyond(has, roles, database)
		if err != nil {
			return nil, err
		}
		if len(surplus) > 0 {
			found = append(found, surplusOf(g, roles, surplus))
		}
	}
	limits := ""
	var do []string
	switch {
	case unseen:
		limits = "; other accounts were not looked at"
		do = append(do, "GRANT SELECT ON mysql.* TO "+me.name()+" shows the other accounts.")
	case many:
		limits = fmt.Sprintf("; only the first %d were looked at", maxGrantees)
	}
	if unread {
		limits += "; which roles accounts were given could not be read"
		do = append(do, d.whoLooks("audit_log"))
	}
	all := fmt.Sprintf("None of the accounts looked at (%d) has more rights on the tables than its roles give%s.", looked, limits)
	switch {
	case len(found) == 0 && limits != "":
		return []Finding{part("grants.surplus", all, strings.Join(do, " "))}, nil
	case len(found) == 0:
		return []Finding{fine("grants.surplus", all)}, nil
	}
	if n := len(found) - maxSurplus; n > 0 {
		found = append(found[:maxSurplus], warn("grants.surplus", fmt.Sprintf("%d more accounts have rights that none of their roles gives.", n), "Mend these accounts, and run `doctor` again."))
	}
	if last := &found[len(found)-1]; limits != "" {
		last.Text = strings.TrimSuffix(last.Text, ".") + limits + "."
	}
	return found, nil
}

// beyond is what an account has and its roles do not give. One of which no role is recorded may have what any gives; where it has rights on
// the whole database, it is taken for an owner.
func (d *doctor) beyond(has rights.Set, roles []string, database string) (rights.Set, error) {
	if len(roles) == 0 {
		if has.OnDatabases() {
			return nil, nil
		}
		roles = slices.DeleteFunc(text.Roles(), func(role string) bool { return role == "owner" })
	}
	var given []string
	for _, role := range roles {
		_, statements, err := text.Grants(role, text.Account{Database: database, Prefix: d.tables.Prefix, User: "x",
			Dialect: d.tables.Dialect, Server: d.tables.Server})
		if err != nil && !errors.Is(err, text.ErrGrant) { // a role that somebody made up gives nothing
			return nil, err
		}
		given = append(given, statements...)
	}
	return has.Beyond(rights.Parse(given)), nil
}

// surplusOf is the finding of an account.
func surplusOf(g grantee, roles []string, surplus rights.Set) Finding {
	var what, revokes []string
	for _, on := range surplus.Names() {
		what = append(what, surplus.On(on)+" on "+on)
		revokes = append(revokes, surplus.Revokes(on, g.name())...)
	}
	const most = 8
	more := ""
	if n := len(what) - most; n > 0 {
		what, more = what[:most], fmt.Sprintf(" and on %d more", n)
	}
	as, do := "no role is recorded for it, and none gives", ""
	switch {
	case g.Host == "":
		do = strings.Join(revokes, "; ")
	case len(roles) == 0:
		do = fmt.Sprintf("Run `grants --role ROLE --user %s --host '%s'` with the role that the account is to have: the statements that it prints take the rest away.", g.User, g.Host)
	default:
		as = "beyond " + strings.Join(roles, " and ")
		do = fmt.Sprintf("Run `grants --role %s --user %s --host '%s'`: the statements that it prints take the rest away. A further --role ROLE keeps what that role gives.",
			strings.Join(roles, " --role "), g.User, g.Host)
	}
	return warn("grants.surplus", fmt.Sprintf("%s has more rights than it should (%s): %s%s.", g.name(), as, strings.Join(what, ", "), more), do)
}

// grantees are those who have rights on the database or on something in it; unseen where this account may not know.
func (d *doctor) grantees(ctx context.Context) (list []grantee, many, unseen bool, err error) {
	for _, query := range []string{"operate/grantees_tables", "operate/grantees_routines"} {
		var some []grantee
		switch err := d.db.SelectContext(ctx, &some, d.tables.Stmt.Get(query)); {
		case errno.Denied(err):
			return nil, false, true, nil
		case errno.Is(err, errno.NoSuchTable): // TiDB knows no procedures
		case err != nil:
			return nil, false, false, fmt.Errorf("asking who has rights on the tables: %w", err)
		}
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b grantee) int {
		return cmp.Or(strings.Compare(a.User, b.User), strings.Compare(a.Host, b.Host))
	})
	list = slices.Compact(list)
	if len(list) > maxGrantees {
		return list[:maxGrantees], true, false, nil
	}
	return list, false, false, nil
}

// recordedRoles are the roles of accounts, by what the audit has: those of the last entry, which has all that an account is to have. Entries
// of before have one role each, and count together. What an account says of itself does not count.
func (d *doctor) recordedRoles(ctx context.Context) (roles map[grantee][]string, unread bool, err error) {
	var entries []struct {
		By    string `db:"account"`
		Given string `db:"after_change"`
	}
	err = d.db.SelectContext(ctx, &entries, strings.ReplaceAll(d.tables.Stmt.Get("operate/granted"), "{stream}", text.InstallationStream))
	if errno.Denied(err) {
		return nil, true, nil
	} else if err != nil {
		return nil, false, fmt.Errorf("reading which roles were given: %w", err)
	}
	roles = make(map[grantee][]string)
	for _, entry := range entries {
		var given struct {
			Role, User, Host string
			Roles            []string
		}
		if json.Unmarshal([]byte(entry.Given), &given) != nil {
			continue
		}
		g := grantee{given.User, given.Host}
		switch by, _, _ := strings.Cut(entry.By, "@"); {
		case by == given.User:
		case given.Role != "" && !slices.Contains(roles[g], given.Role):
			roles[g] = append(roles[g], given.Role)
		case len(given.Roles) > 0:
			roles[g] = given.Roles
		}
	}
	return roles, false, nil
}
