package ops_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

const password = "correct horse battery"

func TestAUserIsAddedChangedDisabledAndListed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Admin)
		by.Reason = "somebody new"
		made, err := ops.AddUser.Do(t.Context(), r.Ops, by, ops.NewUser{Name: "ada", Role: ops.Viewer, Password: password})
		r.Must(err)
		if made.Name != "ada" || made.Role != ops.Viewer || made.DisabledAt != nil || made.LastUsedAt != nil || made.ChangedAt != made.CreatedAt || made.Sessions != 0 {
			t.Errorf("%+v", made)
		}
		if _, err := ops.AddUser.Do(t.Context(), r.Ops, by, ops.NewUser{Name: "ada", Role: ops.Admin, Password: password}); !errors.Is(err, ops.ErrUserExists) {
			t.Error(err)
		}
		_, err = ops.AddUser.Do(t.Context(), r.Ops, by, ops.NewUser{Name: "Ada", Role: ops.Admin, Password: password}) // another
		r.Must(err)
		for range 2 { // the second time nothing is left to do, and no entry made
			is, err := ops.SetUserRole.Do(t.Context(), r.Ops, by, ops.NewRole{OfUser: ops.OfUser{Name: "ada"}, Role: ops.Operator})
			if err != nil || is.Role != ops.Operator {
				t.Errorf("%+v, %v", is, err)
			}
			if is, err = ops.DisableUser.Do(t.Context(), r.Ops, by, ops.OfUser{Name: "ada"}); err != nil || is.DisabledAt == nil {
				t.Errorf("%+v, %v", is, err)
			}
		}
		for range 2 {
			if is, err := ops.EnableUser.Do(t.Context(), r.Ops, by, ops.OfUser{Name: "ada"}); err != nil || is.DisabledAt != nil {
				t.Errorf("%+v, %v", is, err)
			}
		}
		is, err := ops.SetUserPassword.Do(t.Context(), r.Ops, by, ops.NewPassword{OfUser: ops.OfUser{Name: "ada"}, Password: password + "!"})
		if err != nil || !is.ChangedAt.After(is.CreatedAt) {
			t.Errorf("%+v, %v", is, err)
		}
		if got, err := ops.GetUser.Do(t.Context(), r.Ops, by, ops.UserAsked{Name: "ada"}); got != is || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := ops.GetUser.Do(t.Context(), r.Ops, by, ops.UserAsked{Name: "eve"}); !errors.Is(err, ops.ErrNoUser) {
			t.Error(err)
		}
		page, err := ops.ListUsers.Do(t.Context(), r.Ops, by, ops.Paging{Limit: 1})
		if err != nil || len(page.Rows) != 1 || page.Rows[0].Name != "Ada" || page.Next != "Ada" {
			t.Errorf("%+v, %v", page, err)
		}
		page, err = ops.ListUsers.Do(t.Context(), r.Ops, by, ops.Paging{After: page.Next, Limit: 1})
		if err != nil || len(page.Rows) != 1 || page.Rows[0] != is || page.Next != "" {
			t.Errorf("%+v, %v", page, err)
		}
		log, err := audit.Open(t.Context(), r.Pool(time.Time{}), audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		entries, err := log.List(t.Context(), r.Pool(time.Time{}), audit.Filter{Kind: audit.User, ID: "ada", Limit: 100})
		r.Must(err)
		var verbs []string
		for _, e := range entries {
			verbs = append(verbs, e.Verb)
			if e.Person != "admin" || e.Reason != "somebody new" {
				t.Errorf("%+v", e)
			}
		}
		if got := fmt.Sprint(verbs); got != "[password enable disable role create]" {
			t.Error(got)
		}
		text, err := json.Marshal(entries)
		r.Must(err)
		if strings.Contains(string(text), "argon2") || strings.Contains(string(text), password) {
			t.Errorf("a secret is in the audit: %s", text)
		}
	})
}

func TestSessionsAreCountedListedAndEnded(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Admin)
		for _, name := range []string{"ada", "grace"} {
			_, err := ops.AddUser.Do(t.Context(), r.Ops, by, ops.NewUser{Name: name, Role: ops.Viewer, Password: password})
			r.Must(err)
		}
		begin := func(person, role, ends string) {
			r.Exec("INSERT INTO p_web_session (hash, person, role, host, data, created_at, ends_at) SELECT RANDOM_BYTES(32), '" + person + "', " + role + ", '10.0.0.7', '{}', changed_at, " + ends + " FROM p_web_user WHERE name = 'ada'")
		}
		begin("ada", "NULL", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR")
		begin("ada", "NULL", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR")
		begin("ada", "NULL", "changed_at + INTERVAL 1 MICROSECOND") // over
		begin("olga", "'operator'", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR")
		begin("grace", "'admin'", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR") // by the provider, but she has a password now
		begin("hedy", "NULL", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR")     // of a user who isn't there
		list := func() (all []string) {
			for asked := (ops.Paging{Limit: 2}); ; {
				page, err := ops.ListSessions.Do(t.Context(), r.Ops, by, asked)
				r.Must(err)
				for _, s := range page.Rows {
					all = append(all, fmt.Sprintf("%s %s %t", s.Person, s.Role, s.ByProvider))
				}
				if asked.After = page.Next; asked.After == "" {
					return all
				}
			}
		}
		if got := fmt.Sprint(list()); got != "[ada viewer false ada viewer false olga operator true]" {
			t.Error(got)
		}
		count := func() int {
			page, err := ops.ListUsers.Do(t.Context(), r.Ops, by, ops.Paging{Limit: 10})
			r.Must(err)
			return page.Rows[0].Sessions
		}
		if n := count(); n != 2 {
			t.Errorf("%d sessions", n)
		}
		_, err := ops.SetUserPassword.Do(t.Context(), r.Ops, by, ops.NewPassword{OfUser: ops.OfUser{Name: "ada"}, Password: password})
		r.Must(err)
		if n, got := count(), fmt.Sprint(list()); n != 0 || got != "[olga operator true]" {
			t.Errorf("%d, %s", n, got)
		}
		for _, want := range []int{1, 0} {
			if n, err := ops.EndSessions.Do(t.Context(), r.Ops, by, ops.OfUser{Name: "olga"}); err != nil || n.Count != want {
				t.Errorf("%+v, %v", n, err)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'user' AND id = 'olga' AND verb = 'end_sessions'"); len(list()) != 0 || n != 1 {
			t.Errorf("%v, %d entries", list(), n)
		}
	})
}

func TestWhatIsNoUserIsNotAdded(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		admin := served.By(ops.Admin)
		for _, bad := range []ops.NewUser{{Role: ops.Viewer, Password: password}, {Name: "a\u200b", Role: ops.Viewer, Password: password}, {Name: " a", Role: ops.Viewer, Password: password},
			{Name: "a\n", Role: ops.Viewer, Password: password}, {Name: strings.Repeat("x", 129), Role: ops.Viewer, Password: password}, {Name: "a", Password: password},
			{Name: "a", Role: "root", Password: password}, {Name: "a", Role: ops.Viewer}, {Name: "a", Role: ops.Viewer, Password: "short"}, {Name: "a", Role: ops.Viewer, Password: strings.Repeat("ab", 200)}} {
			if _, err := ops.AddUser.Do(t.Context(), r.Ops, admin, bad); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		grace := ops.OfUser{Name: "grace"}
		for what, err := range map[string]error{
			"disable":  of(ops.DisableUser.Do(t.Context(), r.Ops, admin, grace)),
			"enable":   of(ops.EnableUser.Do(t.Context(), r.Ops, admin, grace)),
			"role":     of(ops.SetUserRole.Do(t.Context(), r.Ops, admin, ops.NewRole{OfUser: grace, Role: ops.Viewer})),
			"password": of(ops.SetUserPassword.Do(t.Context(), r.Ops, admin, ops.NewPassword{OfUser: grace, Password: password})),
		} {
			if !errors.Is(err, ops.ErrNoUser) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for what, err := range map[string]error{
			"no role":     of(ops.SetUserRole.Do(t.Context(), r.Ops, admin, ops.NewRole{OfUser: grace, Role: "root"})),
			"no password": of(ops.SetUserPassword.Do(t.Context(), r.Ops, admin, ops.NewPassword{OfUser: grace})),
			"no name":     of(ops.EndSessions.Do(t.Context(), r.Ops, admin, ops.OfUser{})),
			"no cursor":   of(ops.ListSessions.Do(t.Context(), r.Ops, admin, ops.Paging{After: "x", Limit: 1})),
			"a key":       of(ops.AddUser.Do(t.Context(), r.Ops, ops.Caller{Name: "admin", Role: ops.Admin, Key: "k"}, ops.NewUser{Name: "a", Role: ops.Viewer, Password: password})),
		} {
			if !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, role := range []ops.Role{ops.Viewer, ops.Operator} {
			if _, err := ops.AddUser.Do(t.Context(), r.Ops, served.By(role), ops.NewUser{Name: "a", Role: ops.Viewer, Password: password}); !errors.Is(err, ops.ErrForbidden) {
				t.Error(err)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_web_user"); n != 0 {
			t.Errorf("%d users", n)
		}
	})
}

// of is the error of an operation.
func of[T any](_ T, err error) error { return err }

func TestNastyNamesAreKeptAsTheyAre(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		admin := served.By(ops.Admin)
		added := 0
		nasty := []string{`<script>alert("x")</script>`, "'; DROP TABLE p_web_user; -- ", "ship 🚢"}
		for i, name := range rig.Nasty() { // each takes an argon2id
			if i%5 == 0 {
				nasty = append(nasty, name)
			}
		}
		for _, name := range nasty {
			made, err := ops.AddUser.Do(t.Context(), r.Ops, admin, ops.NewUser{Name: name, Role: ops.Viewer, Password: password})
			if errors.Is(err, prescient.ErrInvalid) {
				continue
			}
			r.Must(err)
			if added++; made.Name != name {
				t.Errorf("%q became %q", name, made.Name)
			}
		}
		page, err := ops.ListUsers.Do(t.Context(), r.Ops, admin, ops.Paging{Limit: 1000})
		if err != nil || len(page.Rows) != added || added < 3 {
			t.Errorf("%d of %d, %v", len(page.Rows), added, err)
		}
	})
}

// Of what the operations refuse the table takes nothing either.
func TestTheTablesRefuseUsersAndSessionsThatAreNone(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		r.Needs(t, rig.ColumnDefaults)
		_, err := ops.AddUser.Do(t.Context(), r.Ops, served.By(ops.Admin), ops.NewUser{Name: "ada", Role: ops.Viewer, Password: password})
		r.Must(err)
		for _, bad := range []string{"UPDATE p_web_user SET role = 'root'", "UPDATE p_web_user SET password = 'correct horse battery'", "UPDATE p_web_user SET name = ''", "UPDATE p_web_user SET name = 'a\n'",
			"UPDATE p_web_user SET name = ' a'", "UPDATE p_web_user SET changed_at = '0000-00-00'",
			"INSERT INTO p_web_session (hash, person, role, host, data, created_at, ends_at) VALUES (RANDOM_BYTES(32), 'a', 'root', '', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY)",
			"INSERT INTO p_web_session (hash, person, host, data, created_at, ends_at) VALUES (RANDOM_BYTES(32), '', '', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY)",
			"INSERT INTO p_web_session (hash, person, host, data, created_at, ends_at) VALUES (RANDOM_BYTES(32), 'a', '', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 DAY)"} {
			if _, err := r.Root.ExecContext(t.Context(), bad); err == nil {
				t.Errorf("%s: it is taken", bad)
			}
		}
	})
}
