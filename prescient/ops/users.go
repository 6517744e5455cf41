package ops

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/password"
	"prescient/prescient/internal/store"
)

// Errors of users.
var (
	// ErrNoUser is returned where no user has a name.
	ErrNoUser = errors.New("no such user")
	// ErrUserExists is returned where a user of the name is there.
	ErrUserExists = errors.New("there is such a user")
)

// User is somebody who signs in to the page by a password, of which only a hash is kept.
type User struct {
	Name       string     `json:"name" doc:"The person of audit entries."`
	Role       Role       `json:"role" enum:"viewer,operator,admin"`
	CreatedAt  time.Time  `json:"created_at"`
	ChangedAt  time.Time  `json:"password_changed_at" doc:"Sessions that began before it are over."`
	DisabledAt *time.Time `json:"disabled_at" doc:"Since when the user does not sign in; null for one who does."`
	LastUsedAt *time.Time `json:"last_used_at" doc:"To a minute."`
	Sessions   int        `json:"sessions" doc:"How many there are, in lists."`
}

// Cursor is that of a list which goes on behind the user.
func (u User) Cursor() string { return u.Name }

// columns are those of the statements that read users.
func (u *User) columns() []any {
	return []any{&u.Name, &u.Role, &u.CreatedAt, &u.ChangedAt, &u.DisabledAt, &u.LastUsedAt, &u.Sessions}
}

// ListUsers lists the users.
var ListUsers = query("users.list", Admin, "List the users of the page, by their names. Passwords are not kept.", func(ctx context.Context, q asked, in Paging) (Page[User], error) {
	if err := prescient.ValidText("cursor", in.After, 128); err != nil {
		return Page[User]{}, err
	}
	all, err := store.Rows(ctx, q.db, "listing users", q.tables.Stmt.Get("ops/users"), (*User).columns, in.After, in.Limit+1)
	return page(all, in.Limit, err)
})

// UserAsked says which user is wanted.
type UserAsked struct {
	Name string `query:"name" required:"true" maxLength:"128" doc:"Whose name it is."`
}

// GetUser returns a user.
var GetUser = query("users.get", Admin, "Get a user of the page.", func(ctx context.Context, q asked, in UserAsked) (u User, err error) {
	if err := prescient.ValidLabel("name", in.Name, 128); err != nil {
		return u, err
	}
	err = store.QueryRow(ctx, q.db, u.columns(), q.tables.Stmt.Get("ops/user_get"), in.Name)
	return userFound(in.Name, u, err)
})

// userFound is what came of reading a user.
func userFound(name string, u User, err error) (User, error) {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return User{}, fmt.Errorf("%w: %s", ErrNoUser, name)
	case err != nil:
		return User{}, fmt.Errorf("reading the user %s: %w", name, err)
	}
	return u, nil
}

// WebSession is a session of somebody on the page.
type WebSession struct {
	Number     uint64    `json:"number,string"`
	Person     string    `json:"person"`
	Role       Role      `json:"role" enum:"viewer,operator,admin"`
	ByProvider bool      `json:"by_provider" doc:"Whether the provider of OpenID Connect said who it is, and the role."`
	Host       string    `json:"host" doc:"Where it was begun from."`
	CreatedAt  time.Time `json:"created_at"`
	EndsAt     time.Time `json:"ends_at" doc:"When it is over if it is not used until then."`
}

// Cursor is that of a list which goes on behind the session.
func (s WebSession) Cursor() string { return strconv.FormatUint(s.Number, 10) }

// ListSessions lists the sessions of people on the page.
var ListSessions = query("users.sessions", Admin, "List the sessions on the page that are not over, by their numbers.", func(ctx context.Context, q asked, in Paging) (Page[WebSession], error) {
	after, err := numberAfter(in, "a session")
	if err != nil {
		return Page[WebSession]{}, err
	}
	all, err := store.Rows(ctx, q.db, "listing sessions", q.tables.Stmt.Get("ops/sessions"), func(s *WebSession) []any {
		return []any{&s.Number, &s.Person, &s.Role, &s.ByProvider, &s.Host, &s.CreatedAt, &s.EndsAt}
	}, after, in.Limit+1)
	return page(all, in.Limit, err)
})

// numberAfter reads the cursor of a list by numbers.
func numberAfter(in Paging, of string) (after uint64, err error) {
	if in.After == "" {
		return 0, nil
	}
	if after, err = strconv.ParseUint(in.After, 10, 64); err != nil {
		return 0, fmt.Errorf("%w: cursor %.40q: that of %s was expected", prescient.ErrInvalid, in.After, of)
	}
	return after, nil
}

// NewUser says whom to let sign in.
type NewUser struct {
	Name     string `json:"name" minLength:"1" maxLength:"128" doc:"The person of audit entries."`
	Role     Role   `json:"role" enum:"viewer,operator,admin" doc:"What the user may do."`
	Password string `json:"password" minLength:"12" maxLength:"256" doc:"To be changed by the user, on the page."`
}

// AddUser lets somebody sign in.
var AddUser = secret(deed("users.add", Admin, "Let somebody sign in to the page.", func(ctx context.Context, d doing, in NewUser) (User, error) {
	if err := validPerson(in.Name, in.Role); err != nil {
		return User{}, err
	}
	hash, err := d.hash(ctx, in.Name, in.Password)
	if err != nil {
		return User{}, err
	}
	_, err = d.tx.ExecContext(ctx, d.tables.Stmt.Get("ops/user_insert"), in.Name, string(in.Role), hash)
	if errno.Is(err, errno.DuplicateKey) {
		return User{}, fmt.Errorf("%w: %s", ErrUserExists, in.Name)
	}
	if err != nil {
		return User{}, fmt.Errorf("adding a user: %w", err)
	}
	made, err := d.user(ctx, in.Name)
	if err != nil {
		return User{}, err
	}
	return made, d.userEntry(ctx, audit.Create, nil, made)
}))

// OfUser says which user.
type OfUser struct {
	Name string `json:"name" minLength:"1" maxLength:"128" doc:"Whose."`
}

// DisableUser has somebody sign in no more.
var DisableUser = deed("users.disable", Admin, "Let a user sign in no more; the sessions are over in 10 seconds. That it was so before is no error.", func(ctx context.Context, d doing, in OfUser) (User, error) {
	return d.changeUser(ctx, in.Name, "disable", func(was User) bool { return was.DisabledAt == nil }, "ops/user_disable", in.Name)
})

// EnableUser has somebody sign in again.
var EnableUser = deed("users.enable", Admin, "Let a user sign in again who was disabled. That it was so before is no error.", func(ctx context.Context, d doing, in OfUser) (User, error) {
	return d.changeUser(ctx, in.Name, "enable", func(was User) bool { return was.DisabledAt != nil }, "ops/user_enable", in.Name)
})

// NewRole says which role a user gets.
type NewRole struct {
	OfUser
	Role Role `json:"role" enum:"viewer,operator,admin" doc:"What the user may do from now on, in sessions that are open from 10 seconds on."`
}

// SetUserRole gives a user another role.
var SetUserRole = deed("users.role", Admin, "Give a user another role.", func(ctx context.Context, d doing, in NewRole) (User, error) {
	if _, err := ParseRole(string(in.Role)); err != nil {
		return User{}, err
	}
	return d.changeUser(ctx, in.Name, "role", func(was User) bool { return was.Role != in.Role }, "ops/user_role", string(in.Role), in.Name)
})

// NewPassword says which password a user gets.
type NewPassword struct {
	OfUser
	Password string `json:"password" minLength:"12" maxLength:"256" doc:"To be changed by the user, on the page."`
}

// SetUserPassword gives a user another password.
var SetUserPassword = secret(deed("users.password", Admin, "Give a user another password; the sessions are over in 10 seconds.", func(ctx context.Context, d doing, in NewPassword) (User, error) {
	hash, err := d.hash(ctx, in.Name, in.Password)
	if err != nil {
		return User{}, err
	}
	return d.changeUser(ctx, in.Name, "password", func(User) bool { return true }, "ops/user_password", hash, in.Name)
}))

// EndSessions ends the sessions of a person.
var EndSessions = deed("users.end_sessions", Admin, "End all sessions of a person on the page, also of one whom a provider named: they are over in 10 seconds. It says how many there were.", func(ctx context.Context, d doing, in OfUser) (Counted, error) {
	if err := prescient.ValidLabel("name", in.Name, 128); err != nil {
		return Counted{}, err
	}
	n, err := store.Affected(ctx, d.tx, d.tables.Stmt.Get("ops/sessions_end"), in.Name)
	if err != nil {
		return Counted{}, fmt.Errorf("ending sessions: %w", err)
	}
	if n == 0 {
		return Counted{}, nil
	}
	return Counted{n}, d.audit.Record(ctx, d.tx, audit.Entry{Kind: audit.User, ID: in.Name, Verb: "end_sessions", After: map[string]int{"sessions": n}})
})

// hash returns what is kept of a password. The error wraps prescient.ErrInvalid where nobody should have it.
func (d doing) hash(ctx context.Context, name, text string) (string, error) {
	if err := password.Check(name, text); err != nil {
		return "", err
	}
	return d.passwords.Hash(ctx, text)
}

// user reads a user who is to be changed.
func (d doing) user(ctx context.Context, name string) (u User, err error) {
	if err := prescient.ValidLabel("name", name, 128); err != nil {
		return u, err
	}
	err = store.QueryRow(ctx, d.tx, u.columns(), d.tables.Stmt.Get("ops/user"), name)
	return userFound(name, u, err)
}

// changeUser changes a user where that is one that it changes.
func (d doing) changeUser(ctx context.Context, name, verb string, changes func(was User) bool, statement string, args ...any) (User, error) {
	was, err := d.user(ctx, name)
	if err != nil || !changes(was) {
		return was, err
	}
	if _, err := d.tx.ExecContext(ctx, d.tables.Stmt.Get(statement), args...); err != nil {
		return User{}, fmt.Errorf("changing the user %s: %w", name, err)
	}
	is, err := d.user(ctx, name)
	if err != nil {
		return User{}, err
	}
	return is, d.userEntry(ctx, verb, &was, is)
}

// toldUser is what the audit says of a user.
type toldUser struct {
	Role       Role       `json:"role"`
	ChangedAt  time.Time  `json:"password_changed_at"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
}

// userEntry writes into the audit what became of a user.
func (d doing) userEntry(ctx context.Context, verb string, was *User, is User) error {
	e := audit.Entry{Kind: audit.User, ID: is.Name, Verb: verb, After: toldUser{is.Role, is.ChangedAt, is.DisabledAt}}
	if was != nil {
		e.Before = toldUser{was.Role, was.ChangedAt, was.DisabledAt}
	}
	return d.audit.Record(ctx, d.tx, e)
}
