package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
	"prescient/prescient/internal/filled"
	"prescient/prescient/ops/internal/idempotency"
)

// Errors of callers.
var (
	// ErrForbidden is returned where a caller's role may not do an operation.
	ErrForbidden = errors.New("not allowed")
	// ErrUnauthorized is returned by a door where nobody is to be seen in what a caller proves itself by.
	ErrUnauthorized = errors.New("no valid token")
	// ErrKeyUsed is returned where the same caller used the idempotency key for another request, and ErrUnderWay where the same request is under way.
	ErrKeyUsed, ErrUnderWay = idempotency.ErrUsed, idempotency.ErrUnderWay
)

// KeyTime is how long the answer of an idempotency key is kept.
const KeyTime = 24 * time.Hour

// Caller is who asks for an operation: somebody whom a door has made sure of.
type Caller struct {
	// Name is that of a person or a program, for the audit.
	Name string
	Role Role
	// Token numbers what the caller proved itself by; 0 where that is none. Idempotency keys are kept for each.
	Token uint64
	// Anyone says that it proved itself by nothing. Others have the same name; by Host they are told apart.
	Anyone bool
	// Host is where the request came from, for the audit.
	Host string
	// Reason says why, for the audit; often empty.
	Reason string
	// Key is the idempotency key of a deed: up to 128 characters of ASCII; empty for none.
	Key string
}

// Info is what is known of an operation without doing it.
type Info struct {
	// ID names it: what it is about and what it does, as in checks.cancel.
	ID string
	// Role is the least that may do it.
	Role Role
	// Deed says that it changes something.
	Deed bool
	// Secret says that it answers a secret, which is told once, or is given one, and that this is kept nowhere: it takes no idempotency key, by which
	// the answer and a hash of the request would be.
	Secret bool
	// Within is how long it may take.
	Within time.Duration
	// Shared is how old an answer may be that another caller of the same role got for the same request; 0 where each gets its own.
	Shared time.Duration
	// Summary is a line for people.
	Summary string
}

// Allow returns an error that wraps ErrForbidden where a caller's role may not do the operation.
func (i Info) Allow(by Caller) error {
	if by.Role.May(i.Role) {
		return nil
	}
	return fmt.Errorf("%w: %s needs the role %s, and the caller's is %s", ErrForbidden, i.ID, i.Role, by.Role)
}

// Operation is one thing that can be done, with what it is asked and what it answers.
type Operation[In, Out any] struct {
	Info
	query func(ctx context.Context, q asked, in In) (Out, error)
	deed  func(ctx context.Context, d doing, in In) (Out, error)
}

// asked is what a query works with: the pool of its caller's role.
type asked struct {
	*Ops
	by Caller
	db *sqlx.DB
}

// doing is what a deed works with: its transaction, on the account of its caller's role.
type doing struct {
	*Ops
	by Caller
	tx *sqlx.Tx
}

// How long operations may take, but where one says otherwise.
const (
	queryWithin = 10 * time.Second
	deedWithin  = 20 * time.Second
)

var all []Info

// All returns what there is to be done.
func All() []Info { return append([]Info(nil), all...) }

func query[In, Out any](id string, role Role, summary string, do func(ctx context.Context, q asked, in In) (Out, error)) Operation[In, Out] {
	op := Operation[In, Out]{Info: Info{ID: id, Role: role, Within: queryWithin, Summary: summary}, query: do}
	all = append(all, op.Info)
	return op
}

func deed[In, Out any](id string, role Role, summary string, do func(ctx context.Context, d doing, in In) (Out, error)) Operation[In, Out] {
	op := Operation[In, Out]{Info: Info{ID: id, Role: role, Deed: true, Within: deedWithin, Summary: summary}, deed: do}
	all = append(all, op.Info)
	return op
}

// secret marks the operation that was made last.
func secret[In, Out any](op Operation[In, Out]) Operation[In, Out] {
	op.Secret = true
	all[len(all)-1] = op.Info
	return op
}

// lasting gives an operation, which was made last, another time limit than is usual.
func lasting[In, Out any](within time.Duration, op Operation[In, Out]) Operation[In, Out] {
	op.Within = within
	all[len(all)-1] = op.Info
	return op
}

// sharedFor is how old shared answers may be: a moment, so that many who look ask the database as often as one does.
const sharedFor = 2 * time.Second

// shared marks the operation that was made last. What it answers is not changed by anybody.
func shared[In, Out any](op Operation[In, Out]) Operation[In, Out] {
	op.Shared = sharedFor
	all[len(all)-1] = op.Info
	return op
}

// deedTries is how often a deed is done again that the server broke off, as for a deadlock.
const deedTries = 3

// Do does the operation for a caller. The error wraps ErrForbidden where the caller's role may not, ErrKeyUsed and ErrUnderWay by the caller's
// idempotency key, and else what the room below says: prescient.ErrInvalid, prescient.ErrNotFound and others. After an error nothing was changed, but where
// the answer of a COMMIT was lost: with an idempotency key the same request again finds out.
func (op Operation[In, Out]) Do(ctx context.Context, o *Ops, by Caller, in In) (out Out, err error) {
	if err := op.Allow(by); err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, op.Within)
	defer cancel()
	db := o.accounts.of(by.Role)
	switch {
	case op.Shared > 0:
		return op.recent(ctx, o, by, db, in)
	case !op.Deed:
		return op.query(ctx, asked{o, by, db}, in)
	}
	if err := errors.Join(prescient.ValidText("name", by.Name, 128), prescient.ValidText("reason", by.Reason, 1000)); err != nil {
		return out, err
	}
	if op.Secret && by.Key != "" {
		return out, fmt.Errorf("%w: %s takes no idempotency key: there is a secret in it, which is kept nowhere", prescient.ErrInvalid, op.ID)
	}
	ctx = audit.With(ctx, audit.By{Person: by.Name, Reason: by.Reason, Host: by.Host, Program: o.options.Program, Command: op.ID, Operator: true})
	for range deedTries {
		if out, err = op.once(ctx, o, db, by, in); !client.BeginAgain(err) {
			break
		}
	}
	o.recent.Forget() // also after an error: it may have been done
	return out, err
}

// recent does a query that is shared.
func (op Operation[In, Out]) recent(ctx context.Context, o *Ops, by Caller, db *sqlx.DB, in In) (out Out, err error) {
	request, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("writing a request of %s: %w", op.ID, err)
	}
	found, err := o.recent.Get(ctx, op.ID+" "+string(by.Role)+" "+string(request), op.Shared, func(ctx context.Context) (any, error) {
		out, err := op.query(ctx, asked{o, Caller{Role: by.Role}, db}, in)
		filled.Lists(&out) // a door that does so would change what others read
		return out, err
	})
	out, _ = found.(Out)
	return out, err
}

// once does a deed in one transaction, or finds the answer that its idempotency key got before.
func (op Operation[In, Out]) once(ctx context.Context, o *Ops, db *sqlx.DB, by Caller, in In) (out Out, err error) {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return out, fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	d := doing{o, by, tx}
	var kept *idempotency.Kept
	if by.Key != "" {
		if kept, err = idempotency.Keep(ctx, tx, o.tables.Stmt, idempotency.Of{Key: by.Key, Token: by.Token, Name: by.Name}, op.ID, in); err != nil {
			return out, err
		}
		if was, err := kept.Answered(&out); was {
			return out, err
		}
	}
	if out, err = op.deed(ctx, d, in); err != nil {
		return out, err
	}
	if kept != nil {
		if err := kept.Answer(ctx, tx, out); err != nil {
			return out, err
		}
	}
	if err := tx.Commit(); err != nil {
		return out, fmt.Errorf("committing: %w", err)
	}
	return out, nil
}
