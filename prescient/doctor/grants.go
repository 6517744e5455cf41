package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prescient/prescient"
	"prescient/prescient/doctor/internal/account"
	text "prescient/sql"
)

// Use is what a database user is for: a role of the grants.
type Use string

// The uses, by the names of the roles that `grants` prints.
const (
	UseAnalyst       Use = "analyst"
	UseAppSQL        Use = "app-sql"
	UseApp           Use = "app"
	UseAppReschedule Use = "app-reschedule"
	UseOperator      Use = "operator"
	UseWorker        Use = "worker"
	UseOncall        Use = "oncall"
	UseDoor          Use = "serve-door"
	UseServeViewer   Use = "serve-viewer"
	UseServeOperator Use = "serve-operator"
	UseServeAdmin    Use = "serve-admin"
	UseOwner         Use = "owner"
)

// ParseUse reads the name of a role; empty is worker. The error wraps prescient.ErrInvalid.
func ParseUse(name string) (Use, error) {
	switch {
	case name == "":
		return UseWorker, nil
	case slices.Contains(text.Roles(), name):
		return Use(name), nil
	}
	return "", fmt.Errorf("%w: use %.80q is no role; the roles are analyst, app-sql, app-reschedule, app, operator, worker, oncall and owner, and those of serve", prescient.ErrInvalid, name)
}

// mayUse says whether the role has a right on all of these tables, which are named without the prefix, and on all of their columns.
func (d *doctor) mayUse(right string, tables ...string) bool {
	return account.May(string(d.options.Use), d.tables.Dialect, right, tables...)
}

// mayRead says whether the role may read these tables, but perhaps for what is private in them, which no examination reads.
func (d *doctor) mayRead(tables ...string) bool {
	return account.MayRead(string(d.options.Use), d.tables.Dialect, tables...)
}

// seesPartOf says whether the role has rights on some columns of a table, which is named with the prefix, and may not read it all.
func (d *doctor) seesPartOf(table string) bool {
	rights, _ := text.Rights(string(d.options.Use), d.tables.Dialect)
	of := rights[strings.TrimPrefix(table, d.tables.Prefix)]
	return strings.Contains(of, "(") && !d.mayUse("SELECT", strings.TrimPrefix(table, d.tables.Prefix))
}

// unseen is the finding of an examination for which the role has no right, and needs none.
func (d *doctor) unseen(code string, tables []string) Finding {
	return unseen(code, fmt.Sprintf("The role %s may not read %s, and need not.", d.options.Use, strings.Join(tables, ", ")), d.whoLooks(tables...))
}

// whoLooks names the roles that may read all of some tables, without those of serve, with whose accounts nobody runs commands.
func (d *doctor) whoLooks(tables ...string) string {
	roles := slices.DeleteFunc(text.Roles(), func(role string) bool {
		return strings.HasPrefix(role, "serve-") || !account.May(role, d.tables.Dialect, "SELECT", tables...)
	})
	list := strings.Join(roles, ", ")
	if at := strings.LastIndex(list, ", "); at >= 0 {
		list = list[:at] + " or" + list[at+1:]
	}
	return "Run `doctor` with an account of the role " + list + "."
}

// examineGrants tries what the user of the connection needs, for its use.
func (l *look) examineGrants(ctx context.Context) {
	use := l.options.Use
	missing, err := account.Missing(ctx, l.db, &l.tables, string(use))
	if l.err = err; err != nil {
		return
	}
	var user string
	if l.err = l.db.GetContext(ctx, &user, "SELECT CURRENT_USER()"); l.err != nil {
		return
	}
	// An app need not put pending checks to another time; app-reschedule is for those that do.
	if at := slices.IndexFunc(missing, func(right string) bool { return strings.HasPrefix(right, "UPDATE") }); use == UseApp && at >= 0 {
		if len(missing) == 1 {
			l.say(fine("grants", fmt.Sprintf("User %s has the rights of an app that inserts and cancels; replace, earlier, later and Reschedule need %s.", user, missing[0])))
			return
		}
		missing = slices.Delete(missing, at, at+1)
	}
	if len(missing) > 0 {
		name, _, _ := strings.Cut(user, "@")
		l.say(bad("grants", fmt.Sprintf("User %s lacks rights for its use as %s: %s.", user, use, strings.Join(missing, ", ")),
			fmt.Sprintf("First see that `migrate --repair` finds nothing. Then run `grants --role %s --user %s`, and the statements that it prints.", use, name)))
	}
	l.orFine(ctx, "grants", fmt.Sprintf("user %s has the rights for its use as %s", user, use))
}

// maxSurplus bounds how many accounts are named that have more rights than they should.
const maxSurplus = 10

// examineSurplus looks for accounts that have rights on the tables which none of their roles gives: what the account of the connection may
// read of that.
func (l *look) examineSurplus(ctx context.Context) {
	looked, err := account.FindSurplus(ctx, l.db, &l.tables, string(l.options.Use))
	if l.err = err; err != nil {
		return
	}
	limits := ""
	var do []string
	switch {
	case looked.Unseen:
		limits = "; other accounts were not looked at"
		do = append(do, "GRANT SELECT ON mysql.* TO "+looked.Self.Name()+" shows the other accounts.")
	case looked.Many:
		limits = fmt.Sprintf("; only the first %d were looked at", account.MaxAccounts)
	}
	if looked.Unread {
		limits += "; which roles accounts were given could not be read"
		do = append(do, l.whoLooks("audit_log"))
	}
	for i, one := range looked.Surplus {
		if i == maxSurplus {
			l.say(warn("grants.surplus", counted(len(looked.Surplus)-i, "more account has", "more accounts have")+" rights that no role of theirs gives.", "Mend these accounts, and run `doctor` again."))
			break
		}
		l.say(surplusOf(one))
	}
	all := fmt.Sprintf("None of the accounts looked at (%d) has more rights on the tables than its roles give%s.", looked.Looked, limits)
	switch {
	case limits == "" && len(l.found) == 0:
		l.say(fine("grants.surplus", all))
	case len(l.found) == 0:
		l.say(part("grants.surplus", all, strings.Join(do, " ")))
	default:
		last := &l.found[len(l.found)-1]
		last.Text = strings.TrimSuffix(last.Text, ".") + limits + "."
	}
}

// surplusOf is the finding of an account.
func surplusOf(of account.Surplus) Finding {
	var what, revokes []string
	for _, on := range of.Has.Names() {
		what = append(what, of.Has.On(on)+" on "+on)
		revokes = append(revokes, of.Has.Revokes(on, of.Name())...)
	}
	const most = 8
	more := ""
	if n := len(what) - most; n > 0 {
		what, more = what[:most], fmt.Sprintf(" and on %d more", n)
	}
	as, do := "no role is recorded for it, and no role gives this right", ""
	switch {
	case of.Host == "":
		do = strings.Join(revokes, "; ")
	case len(of.Roles) == 0:
		do = fmt.Sprintf("See what uses these rights. Then run `grants --role ROLE --user %s --host '%s'` with the role that the account is to have: the statements that it prints take the rest away.", of.User, of.Host)
	default:
		as = "beyond " + strings.Join(of.Roles, " and ")
		do = fmt.Sprintf("See what uses these rights. Then run `grants --role %s --user %s --host '%s'`, with a further --role ROLE for what it is to keep: the statements that it prints take the rest away.",
			strings.Join(of.Roles, " --role "), of.User, of.Host)
	}
	return warn("grants.surplus", fmt.Sprintf("%s has more rights than it should (%s): %s%s.", of.Name(), as, strings.Join(what, ", "), more), do)
}
