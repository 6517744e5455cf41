package door

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient/internal/bound"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/token"
	"prescient/prescient/ops"
	text "prescient/sql"
)

// Door knows callers. It is for concurrent use.
type Door struct {
	db      *sqlx.DB
	tables  store.Tables
	open    ops.Role
	proxies bound.Proxies
	log     zerolog.Logger

	mu    sync.Mutex
	tried map[uint64]time.Time // when the last use of a token was to be noted
}

// Options are for Open.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default.
	Dialect text.Dialect
	// Open is the role of requests without a token; by default they are refused.
	Open ops.Role
	// Proxies are believed when they say where a request came from; none by default.
	Proxies []netip.Prefix
	// Log gets what could not be noted or forgotten; nothing by default.
	Log zerolog.Logger
}

// Open reads slot_config. db is a pool of connect.Open, of the account serve-door. The error wraps prescient.ErrNotMigrated or prescient.ErrInvalid.
func Open(ctx context.Context, db *sqlx.DB, o Options) (*Door, error) {
	if o.Open != "" {
		if _, err := ops.ParseRole(string(o.Open)); err != nil {
			return nil, err
		}
	}
	tables, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
	if err != nil {
		return nil, err
	}
	return &Door{db: db, tables: tables, open: o.Open, proxies: o.Proxies, log: o.Log, tried: make(map[uint64]time.Time)}, nil
}

// DB is the pool that it was opened with.
func (d *Door) DB() *sqlx.DB { return d.db }

// lookWithin bounds how long a request waits for what is known of its token.
const lookWithin = 5 * time.Second

// Authenticate says who sent a request: the holder of the token in its Authorization header. The error wraps ops.ErrUnauthorized, or comes from the
// database.
func (d *Door) Authenticate(r *http.Request) (ops.Caller, error) {
	host := d.Address(r)
	if d.open != "" && r.Header.Get("Authorization") == "" {
		return ops.Caller{Name: "without a token", Role: d.open, Anyone: true, Host: host}, nil
	}
	by, err := d.Caller(r.Context(), Bearer(r))
	by.Host = host
	return by, err
}

// Address is where a request came from: whom the proxies name, where one of them sent it.
func (d *Door) Address(r *http.Request) string { return d.proxies.Address(r) }

// Bearer returns the token of a request, which stands in its Authorization header alone.
func Bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

// Caller says who has a token, and notes its use. Errors are those of Authenticate.
func (d *Door) Caller(ctx context.Context, secret string) (by ops.Caller, err error) {
	hash, is := token.Read(secret)
	if !is {
		return by, fmt.Errorf("%w: Authorization: Bearer pst_… is wanted", ops.ErrUnauthorized)
	}
	ctx, cancel := context.WithTimeout(store.Vital(ctx), lookWithin) // who asks for much has no say in who comes in
	defer cancel()
	var expired, revoked, news bool
	err = store.QueryRow(ctx, d.db, []any{&by.Token, &by.Name, &by.Role, &expired, &revoked, &news}, d.tables.Stmt.Get("ops/caller"), hash[:])
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ops.Caller{}, fmt.Errorf("%w: it is not known", ops.ErrUnauthorized)
	case err != nil:
		return ops.Caller{}, fmt.Errorf("looking a token up: %w", err)
	case revoked:
		return ops.Caller{}, fmt.Errorf("%w: it was revoked", ops.ErrUnauthorized)
	case expired:
		return ops.Caller{}, fmt.Errorf("%w: it has expired", ops.ErrUnauthorized)
	}
	if news && d.first(by.Token) {
		if err := d.note(ctx, by.Token); err != nil {
			d.log.Debug().Err(err).Uint64("token", by.Token).Msg("the last use of a token was not noted")
		}
	}
	return by, nil
}

const (
	// noteEvery is how often the last use of a token is noted, or tried to be, and noteWithin how long that may take a request.
	noteEvery, noteWithin = time.Minute, time.Second
	// mostTried is for how many tokens that is remembered; admins make them, so that there are few.
	mostTried = 10_000
)

// first says whether nobody tried for a minute to note the last use of a token.
func (d *Door) first(number uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if last, is := d.tried[number]; is && now.Sub(last) < noteEvery {
		return false
	}
	if len(d.tried) >= mostTried {
		clear(d.tried)
	}
	d.tried[number] = now
	return true
}

// note notes the last use of a token. It waits for nobody: where somebody else has the row, it is left to the next minute.
func (d *Door) note(ctx context.Context, number uint64) error {
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	tx, err := d.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	for _, statement := range []string{"ops/used_lock", "ops/used"} {
		if _, err := tx.ExecContext(ctx, d.tables.Stmt.Get(statement), number); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// HasToken says whether there is a token that is good.
func (d *Door) HasToken(ctx context.Context) (bool, error) {
	var number uint64
	return d.has(ctx, &number, "a token", "ops/live")
}

// HasUser says whether somebody signs in to the page.
func (d *Door) HasUser(ctx context.Context) (bool, error) {
	var name string
	return d.has(ctx, &name, "a user", "ops/live_user")
}

func (d *Door) has(ctx context.Context, into any, what, statement string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	err := store.QueryRow(ctx, d.db, []any{into}, d.tables.Stmt.Get(statement))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for %s: %w", what, err)
	}
	return true, nil
}

// Alive says whether the database answers.
func (d *Door) Alive(ctx context.Context) error {
	_, err := d.HasToken(ctx)
	return err
}

// How often idempotency keys and sessions are forgotten, and how long one pass may take.
const forgetEvery, forgetWithin = 5 * time.Minute, 30 * time.Second

// Serve forgets idempotency keys that are over ops.KeyTime old, and sessions that are over, until ctx ends. Several processes may do so.
func (d *Door) Serve(ctx context.Context) {
	for {
		if n, err := d.Forget(ctx); err != nil && ctx.Err() == nil && !errno.Is(err, errno.NoWait, errno.LockWaitTimeout) {
			d.log.Warn().Err(err).Msg("old idempotency keys and sessions could not be forgotten")
		} else if n > 0 {
			d.log.Debug().Int("rows", n).Msg("old idempotency keys and sessions were forgotten")
		}
		if store.Sleep(ctx, forgetEvery) != nil {
			return
		}
	}
}
