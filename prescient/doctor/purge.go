package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Defaults of Options for the server's purge. A server that keeps up has hundreds of transactions to purge, or a few thousand; a
// backup in one transaction is mostly over within the hour.
const (
	DefaultPurgeBehind     = 1_000_000
	DefaultTransactionOpen = time.Hour
)

// examinePurge looks how far the server's purge is behind with removing what was deleted and changed, by anybody, and at the
// transaction that is open the longest. What is not purged makes slot runs slow, and everybody else.
func (d *doctor) examinePurge(ctx context.Context) ([]Finding, error) {
	if d.tables.Server == text.TiDB || d.tables.Server == text.Vitess {
		return []Finding{unseen("purge", "This server keeps no history list.", "See what the server's own tools say of old versions of rows.")}, nil
	}
	behind, err := d.readBehind(ctx)
	list := purgeFinding(behind, d.options.PurgeBehind)
	if errno.Is(err, errno.AccessDenied) {
		list = withoutProcess("purge", "How far the server's purge is behind")
	} else if err != nil {
		return nil, err
	}
	oldest, err := d.readOldest(ctx)
	transaction := transactionFinding(oldest, d.options.TransactionOpen)
	switch {
	case errno.Is(err, errno.AccessDenied):
		transaction = withoutProcess("purge.transaction", "Which transaction is open the longest")
	case errno.Is(err, errno.NotShown):
		transaction = unseen("purge.transaction", fmt.Sprintf("MySQL showed no transaction for %s, since the statement of some session is no text.", shownTime), "Run `doctor` again.")
	case err != nil:
		return nil, err
	}
	return []Finding{list, transaction}, nil
}

// withoutProcess is the finding of what the account may not see.
func withoutProcess(code, what string) Finding {
	return unseen(code, what+" is shown only to accounts with the right PROCESS, which counts for the whole server and is in no role.", "GRANT PROCESS ON *.* gives that right.")
}

// readBehind reads how many transactions are to be purged.
func (d *doctor) readBehind(ctx context.Context) (n int, err error) {
	into, query := []any{&n}, "operate/purge"
	if d.tables.Server == text.MariaDB {
		into, query = []any{new(string), &n}, "operate/purge_mariadb"
	}
	if err = store.QueryRow(ctx, d.db, into, d.tables.Stmt.Get(query)); err != nil {
		return 0, fmt.Errorf("asking how far purge is behind: %w", err)
	}
	return n, nil
}

func purgeFinding(behind, limit int) Finding {
	text := fmt.Sprintf("The server has %s transactions to purge (InnoDB's history list)", many(behind))
	if behind > limit {
		return warn("purge", fmt.Sprintf("%s, more than %s. Deleted rows stay in the tables, and every statement has to pass them.", text, many(limit)),
			"End the transaction that is open the longest, if that is long. Else the server changes more than it purges: see innodb_purge_threads, and what writes so much.")
	}
	return fine("purge", text+".")
}

// openTransaction is the transaction that is open the longest.
type openTransaction struct {
	connection uint64
	age        time.Duration
	account    string // empty where it is not visible
}

// shownTime bounds how long the doctor asks for what MySQL does not show while somebody's statement is no text.
const shownTime = 3 * time.Second

// readOldest reads which transaction is open the longest; nil where none is.
func (d *doctor) readOldest(ctx context.Context) (*openTransaction, error) {
	ctx, cancel := context.WithTimeout(ctx, shownTime)
	defer cancel()
	var oldest openTransaction
	var seconds int64
	err := store.UntilShown(ctx, func(ctx context.Context) error {
		return store.QueryRow(ctx, d.db, []any{&oldest.connection, &seconds}, d.tables.Stmt.Get("operate/oldest_transaction"))
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking which transaction is open the longest: %w", err)
	}
	oldest.age = time.Duration(seconds) * time.Second
	var user, host string
	err = store.UntilShown(ctx, func(ctx context.Context) error {
		return store.QueryRow(ctx, d.db, []any{&user, &host}, d.tables.Stmt.Get("operate/connection"), oldest.connection)
	})
	if err == nil { // else it is gone, or not shown: it counts without its account
		oldest.account = user + "@" + host
	}
	return &oldest, nil
}

func transactionFinding(oldest *openTransaction, limit time.Duration) Finding {
	if oldest == nil {
		return fine("purge.transaction", "No transaction is open.")
	}
	whose, do := fmt.Sprintf("of connection %d", oldest.connection), fmt.Sprintf("See what keeps the transaction open, and end it there or by KILL %d.", oldest.connection)
	if oldest.connection == 0 {
		whose, do = "of no connection", "Mostly that is a prepared XA transaction. XA RECOVER lists those: commit it, or roll it back."
	}
	if oldest.account != "" {
		whose += ", " + oldest.account
	}
	text := fmt.Sprintf("The oldest transaction, %s, has been open for %s", whose, oldest.age)
	if oldest.age > limit {
		return warn("purge.transaction", fmt.Sprintf("%s, longer than %s. Meanwhile the server purges nothing that the transaction may still see.", text, limit), do)
	}
	return fine("purge.transaction", text+".")
}
