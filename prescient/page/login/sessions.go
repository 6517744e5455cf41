package login

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient/internal/store"
	"prescient/prescient/ops"
)

// Remembered is how long what is known of a session is good without another look.
const Remembered = 10 * time.Second

const (
	// tokenBytes is how many random bytes a session's token has.
	tokenBytes = 32
	// mostRemembered is how many sessions are remembered before those are forgotten that are to be looked up anyway.
	mostRemembered = 1000
	// lookWithin bounds how long a request waits for what is known of its session, and noteWithin for the note that it was used.
	lookWithin, noteWithin = 5 * time.Second, time.Second
)

// session is what is known of one.
type session struct {
	person     string
	role       ops.Role
	byProvider bool
	data       []byte
}

// beginning is what a session begins with. Of a user hash is that of the password which was tried; of somebody whom a provider named there is a role.
type beginning struct {
	person, host string
	hash         string
	role         ops.Role
}

type beginningKey struct{}

// errNotBegun is returned where what somebody signed in by is not good any more.
var errNotBegun = errors.New("the user was changed meanwhile")

// sessions is the store of an scs.SessionManager. Of tokens only hashes are kept, also in memory.
type sessions struct {
	db     *sqlx.DB
	tables *store.Tables
	log    zerolog.Logger
	now    func() time.Time
	// lifetime is how long a session is good at most, and idle how long one that is not used.
	lifetime, idle time.Duration

	mu         sync.Mutex
	remembered map[[sha256.Size]byte]looked
}

// looked is a session, and when it was looked up.
type looked struct {
	session
	at time.Time
}

func newSessions(db *sqlx.DB, tables *store.Tables, log zerolog.Logger, now func() time.Time) *sessions {
	return &sessions{db: db, tables: tables, log: log, now: now, remembered: make(map[[sha256.Size]byte]looked)}
}

// hashOf is the hash of what may be a token; is says whether it has the form of one.
func hashOf(token string) (hash [sha256.Size]byte, is bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return hash, false
	}
	return sha256.Sum256([]byte(token)), true
}

// find looks a session up, or remembers it. What is not there is not remembered.
func (s *sessions) find(ctx context.Context, token string) (session, bool, error) {
	hash, is := hashOf(token)
	if !is {
		return session{}, false, nil
	}
	began := s.now()
	s.mu.Lock()
	known, is := s.remembered[hash]
	s.mu.Unlock()
	if is && began.Sub(known.at) < Remembered {
		return known.session, true, nil
	}
	ctx, cancel := context.WithTimeout(store.Vital(ctx), lookWithin)
	defer cancel()
	found := looked{at: began}
	var news, used bool
	lifetime, idle := s.lifetime.Microseconds(), s.idle.Microseconds()
	err := store.QueryRow(ctx, s.db, []any{&found.data, &found.person, &found.role, &found.byProvider, &news, &used}, s.tables.Stmt.Get("login/session"), lifetime, idle, hash[:], lifetime)
	if err != nil {
		s.forget(hash)
		if errors.Is(err, sql.ErrNoRows) {
			return session{}, false, nil
		}
		return session{}, false, fmt.Errorf("looking a session up: %w", err)
	}
	s.mu.Lock()
	if len(s.remembered) >= mostRemembered {
		for h, l := range s.remembered {
			if began.Sub(l.at) >= Remembered {
				delete(s.remembered, h)
			}
		}
	}
	s.remembered[hash] = found
	s.mu.Unlock()
	for _, n := range []struct {
		is              bool
		lock, statement string
		args            []any // of the statement, those of the lock last
	}{{news, "login/used_lock", "login/used", []any{found.person}}, {used, "login/session_lock", "login/session_used", []any{lifetime, idle, hash[:]}}} {
		if !n.is {
			continue
		}
		if err := s.note(ctx, n.lock, n.statement, n.args...); err != nil {
			s.log.Debug().Err(err).Str("statement", n.statement).Msg("that somebody uses the page was not noted")
		}
	}
	return found.session, true, nil
}

func (s *sessions) forget(hash [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.remembered, hash)
}

// note notes that somebody uses the page. It waits for nobody.
func (s *sessions) note(ctx context.Context, lock, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, s.tables.Stmt.Get(lock), args[len(args)-1]); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, s.tables.Stmt.Get(statement), args...); err != nil {
		return err
	}
	return tx.Commit()
}

// FindCtx implements scs.CtxStore.
func (s *sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	found, is, err := s.find(ctx, token)
	return found.data, is, err
}

// CommitCtx implements scs.CtxStore: it writes a session that the context has the beginning of, or what is to be remembered in one that there is.
func (s *sessions) CommitCtx(ctx context.Context, token string, data []byte, ends time.Time) error {
	hash, is := hashOf(token)
	if !is {
		return errors.New("writing a session: its token is none of ours")
	}
	b, begins := ctx.Value(beginningKey{}).(*beginning)
	ctx, cancel := context.WithTimeout(store.Vital(ctx), lookWithin)
	defer cancel()
	lasts := min(time.Until(ends), s.idle).Microseconds() // by the clock of the manager
	var statement string
	var args []any
	switch {
	case !begins:
		statement, args = "login/session_update", []any{data, lasts, hash[:]}
	case b.role == "":
		statement, args = "login/session_insert", []any{hash[:], b.host, data, lasts, b.person, b.hash}
	default:
		statement, args = "login/session_insert_given", []any{hash[:], b.person, string(b.role), b.host, data, lasts, b.person}
	}
	n, err := store.Affected(ctx, s.db, s.tables.Stmt.Get(statement), args...)
	s.forget(hash)
	if err != nil {
		return fmt.Errorf("writing a session: %w", err)
	}
	if n == 0 && begins {
		return errNotBegun
	}
	return nil
}

// DeleteCtx implements scs.CtxStore.
func (s *sessions) DeleteCtx(ctx context.Context, token string) error {
	hash, is := hashOf(token)
	if !is {
		return nil
	}
	ctx, cancel := context.WithTimeout(store.Vital(ctx), lookWithin)
	defer cancel()
	s.forget(hash)
	if _, err := s.db.ExecContext(ctx, s.tables.Stmt.Get("login/session_delete"), hash[:]); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	s.forget(hash) // also for who looked it up meanwhile
	return nil
}

// Find, Commit and Delete are for scs.Store; those with a context are called.
func (s *sessions) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

// Commit implements scs.Store.
func (s *sessions) Commit(token string, data []byte, ends time.Time) error {
	return s.CommitCtx(context.Background(), token, data, ends)
}

// Delete implements scs.Store.
func (s *sessions) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// codec writes what is remembered in a session as JSON, which people can read in the table.
type codec struct{}

type remembered struct {
	EndsAt time.Time      `json:"ends_at"`
	Values map[string]any `json:"values"`
}

// Encode implements scs.Codec.
func (codec) Encode(ends time.Time, values map[string]any) ([]byte, error) {
	return json.Marshal(remembered{ends, values})
}

// Decode implements scs.Codec.
func (codec) Decode(data []byte) (time.Time, map[string]any, error) {
	r := remembered{Values: make(map[string]any)}
	if err := json.Unmarshal(data, &r); err != nil {
		return time.Time{}, nil, fmt.Errorf("reading what is remembered in a session: %w", err)
	}
	return r.EndsAt, r.Values, nil
}
