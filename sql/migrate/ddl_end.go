package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	// endWithin bounds how long a statement is waited for that was told to end.
	endWithin = 10 * time.Second
	// tellEvery is the time between two times that it is told: the first may come before the server has begun it.
	tellEvery = 200 * time.Millisecond
)

// session is a connection as its server knows it.
type session struct {
	id     uint64 // 0 where the server does not tell
	server string
}

func sessionOf(ctx context.Context, conn *sql.Conn) (s session, err error) {
	err = conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), CONCAT_WS(' ', @@hostname, @@port)").Scan(&s.id, &s.server)
	if server := new(mysql.MySQLError); errors.As(err, &server) { // it does not tell
		return session{}, nil
	}
	return s, err
}

// send sends a statement, and ends it on the server where the context is over before.
func (d *DDL) send(ctx context.Context, statement string, args []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	unbroken, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	done := make(chan error, 1)
	go func() {
		_, err := d.conn.ExecContext(unbroken, statement, args...)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	err, ended := d.end(context.WithoutCancel(ctx), done)
	if !ended {
		hangUp() // its server may not be there any more
		err = <-done
	}
	if err == nil {
		return nil // it was done before it could be ended
	}
	return fmt.Errorf("%w: the statement was ended (%v)", ctx.Err(), err) //nolint:errorlint // what counts is why
}

// end tells the server to end the statement, by a second connection, and waits for its answer.
func (d *DDL) end(ctx context.Context, done <-chan error) (err error, ended bool) { //nolint:revive // the error is the statement's
	if d.self.id == 0 {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	second, failed := d.db.Conn(ctx)
	if failed != nil {
		return nil, false
	}
	defer second.Close()
	if there, failed := sessionOf(ctx, second); failed != nil || there.server != d.self.server {
		return nil, false // the id is somebody else's there
	}
	for {
		// That it fails is seen by the statement going on.
		_, _ = second.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", d.self.id))
		select {
		case err := <-done:
			return err, true
		case <-ctx.Done():
			return nil, false
		case <-time.After(tellEvery):
		}
	}
}
