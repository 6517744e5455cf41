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
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/token"
)

// ErrNoToken is returned where no token has a number.
var ErrNoToken = errors.New("no such token")

// Bounds of tokens, in time.
const (
	// DefaultTokenTime is how long a token is good where nobody says it, and MaxTokenTime how long it is at most.
	DefaultTokenTime = 90 * 24 * time.Hour
	MaxTokenTime     = 366 * 24 * time.Hour
	// DefaultOverlap is how long a token that was rotated is still good where nobody says it, and MaxOverlap how long it is at most.
	DefaultOverlap = 24 * time.Hour
	MaxOverlap     = 30 * 24 * time.Hour
)

// Token is a token of the API, without its secret: of that only a hash is kept.
type Token struct {
	Number     uint64     `json:"number,string" doc:"Names it, in lists and in the audit."`
	Name       string     `json:"name" doc:"Whose it is: the person of audit entries."`
	Role       Role       `json:"role" enum:"viewer,operator,admin"`
	State      string     `json:"state" enum:"live,expired,revoked"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at" doc:"From then on it is refused."`
	RevokedAt  *time.Time `json:"revoked_at"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"To a minute."`
}

// Cursor is that of a list which goes on behind the token.
func (t Token) Cursor() string { return strconv.FormatUint(t.Number, 10) }

// MadeToken is a token with its secret, which is told this once.
type MadeToken struct {
	Token
	Secret string `json:"token" doc:"What callers send as Authorization: Bearer. It is told this once."`
}

// ListTokens lists the tokens.
var ListTokens = query("tokens.list", Admin, "List the tokens of the API, by their numbers. Secrets are not kept.", func(ctx context.Context, q asked, in Paging) (Page[Token], error) {
	after, err := numberAfter(in, "a token")
	if err != nil {
		return Page[Token]{}, err
	}
	all, err := store.Rows(ctx, q.db, "listing tokens", q.tables.Stmt.Get("ops/tokens"), (*Token).columns, after, in.Limit+1)
	return page(all, in.Limit, err)
})

// columns are those of the statements that read tokens.
func (t *Token) columns() []any {
	return []any{&t.Number, &t.Name, &t.Role, &t.CreatedAt, &t.ExpiresAt, &t.RevokedAt, &t.LastUsedAt, &t.State}
}

// NewToken says which token to make.
type NewToken struct {
	Name      string `json:"name" minLength:"1" maxLength:"128" doc:"Whose it is: the person of audit entries."`
	Role      Role   `json:"role" enum:"viewer,operator,admin" doc:"What it may do."`
	ExpiresMS int64  `json:"expires_after_ms,omitempty" minimum:"1000" maximum:"31622400000" doc:"For how many milliseconds it is good, 90 days by default."`
}

// CreateToken makes a token.
var CreateToken = secret(deed("tokens.create", Admin, "Make a token. Its secret is told this once.", func(ctx context.Context, d doing, in NewToken) (MadeToken, error) {
	if err := validPerson(in.Name, in.Role); err != nil {
		return MadeToken{}, err
	}
	return d.makeToken(ctx, in, 0)
}))

// validPerson refuses a name that the audit would not show, and a role that is none.
func validPerson(name string, role Role) error {
	if err := errors.Join(prescient.ValidLabel("name", name, 128), prescient.ValidSeen("name", name)); err != nil {
		return err
	}
	_, err := ParseRole(string(role))
	return err
}

// Rotating says which token to replace.
type Rotating struct {
	Number    uint64 `json:"number,string" doc:"Which one."`
	OverlapMS *int64 `json:"overlap_ms,omitempty" minimum:"0" maximum:"2592000000" doc:"For how many milliseconds the old one is still good, a day by default."`
	ExpiresMS int64  `json:"expires_after_ms,omitempty" minimum:"1000" maximum:"31622400000" doc:"For how many milliseconds the new one is good, 90 days by default."`
}

// RotateToken makes a token in the place of another.
var RotateToken = secret(deed("tokens.rotate", Admin, "Make a token in the place of another, which is good for a while still. Its secret is told this once.", func(ctx context.Context, d doing, in Rotating) (MadeToken, error) {
	overlap := DefaultOverlap
	if in.OverlapMS != nil {
		overlap = time.Duration(*in.OverlapMS) * time.Millisecond
	}
	if overlap < 0 || overlap > MaxOverlap {
		return MadeToken{}, fmt.Errorf("%w: overlap_ms: 0 to %d are allowed", prescient.ErrInvalid, MaxOverlap.Milliseconds())
	}
	if _, err := d.token(ctx, in.Number); err != nil { // which waits for who rotates it, by the time from before the wait
		return MadeToken{}, err
	}
	old, err := d.token(ctx, in.Number)
	if err != nil {
		return MadeToken{}, err
	}
	if old.State != "live" {
		return MadeToken{}, fmt.Errorf("%w: token %d is %s: make another", prescient.ErrInvalid, old.Number, old.State)
	}
	if _, err := d.tx.ExecContext(ctx, d.tables.Stmt.Get("ops/token_end"), overlap.Microseconds(), old.Number); err != nil {
		return MadeToken{}, fmt.Errorf("ending token %d: %w", old.Number, err)
	}
	ends, err := d.token(ctx, old.Number)
	if err != nil {
		return MadeToken{}, err
	}
	if err := d.tokenEntry(ctx, "rotate", &old, &ends, 0); err != nil {
		return MadeToken{}, err
	}
	return d.makeToken(ctx, NewToken{Name: old.Name, Role: old.Role, ExpiresMS: in.ExpiresMS}, old.Number)
}))

// Revoking says which token to revoke.
type Revoking struct {
	Number uint64 `json:"number,string" doc:"Which one."`
}

// RevokeToken has a token refused from now on.
var RevokeToken = deed("tokens.revoke", Admin, "Revoke a token: it is refused at once. That it was before is no error.", func(ctx context.Context, d doing, in Revoking) (Token, error) {
	was, err := d.token(ctx, in.Number)
	if err != nil || was.RevokedAt != nil {
		return was, err
	}
	if _, err := d.tx.ExecContext(ctx, d.tables.Stmt.Get("ops/token_revoke"), in.Number); err != nil {
		return Token{}, fmt.Errorf("revoking token %d: %w", in.Number, err)
	}
	is, err := d.token(ctx, in.Number)
	if err != nil {
		return Token{}, err
	}
	return is, d.tokenEntry(ctx, "revoke", &was, &is, 0)
})

// token reads a token that is to be changed.
func (d doing) token(ctx context.Context, number uint64) (t Token, err error) {
	err = store.QueryRow(ctx, d.tx, t.columns(), d.tables.Stmt.Get("ops/token"), number)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Token{}, fmt.Errorf("%w: %d", ErrNoToken, number)
	case err != nil:
		return Token{}, fmt.Errorf("reading token %d: %w", number, err)
	}
	return t, nil
}

// makeToken makes a token, in the place of another where that has a number.
func (d doing) makeToken(ctx context.Context, in NewToken, inPlaceOf uint64) (MadeToken, error) {
	lasts := time.Duration(in.ExpiresMS) * time.Millisecond
	switch {
	case in.ExpiresMS == 0:
		lasts = DefaultTokenTime
	case in.ExpiresMS < 1000 || in.ExpiresMS > MaxTokenTime.Milliseconds():
		return MadeToken{}, fmt.Errorf("%w: expires_after_ms: 1000 to %d are allowed", prescient.ErrInvalid, MaxTokenTime.Milliseconds())
	}
	secret, hash := token.New()
	result, err := d.tx.ExecContext(ctx, d.tables.Stmt.Get("ops/token_insert"), hash[:], in.Name, string(in.Role), lasts.Microseconds())
	if err != nil {
		return MadeToken{}, fmt.Errorf("making a token: %w", err)
	}
	number, err := result.LastInsertId()
	if err != nil {
		return MadeToken{}, err
	}
	made, err := d.token(ctx, uint64(number))
	if err != nil {
		return MadeToken{}, err
	}
	return MadeToken{made, secret}, d.tokenEntry(ctx, audit.Create, nil, &made, inPlaceOf)
}

// toldToken is what the audit says of a token.
type toldToken struct {
	Name      string     `json:"name"`
	Role      Role       `json:"role"`
	ExpiresAt time.Time  `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	InPlaceOf uint64     `json:"in_place_of,omitempty"`
}

// tokenEntry writes into the audit what became of a token.
func (d doing) tokenEntry(ctx context.Context, verb string, was, is *Token, inPlaceOf uint64) error {
	e := audit.Entry{Kind: audit.Token, ID: is.Cursor(), Verb: verb, After: toldToken{is.Name, is.Role, is.ExpiresAt, is.RevokedAt, inPlaceOf}}
	if was != nil {
		e.Before = toldToken{was.Name, was.Role, was.ExpiresAt, was.RevokedAt, 0}
	}
	return d.audit.Record(ctx, d.tx, e)
}
