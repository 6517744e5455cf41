package errno

import (
	"errors"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Vitess passes on what its servers say, and has one number, Unknown, for all that has none of its own: a shard without a primary, and a statement that
// it cannot read. Only the text tells them apart (vitess.io/vitess/go/vt/vterrors, v0.24).

// Away says whether an error is that of a shard which has no server for now: one that stops or starts, or is no primary any more, or one that was
// divided.
func Away(err error) bool {
	return says(err, Unknown, "no healthy tablet", "operation not allowed in state", "wrong tablet type", "invalid tablet type", "tx engine can't accept new connections",
		"code = Unavailable", "connection refused")
}

// Unrouted says whether vtgate knows no table of that name in a keyspace that is sharded: its VSchema is to have it.
func Unrouted(err error) bool {
	return says(err, Unknown, "table ") && says(err, Unknown, " not found")
}

// Crowded says whether TiDB, which has no number for it either, gave up on a lock that others took time and again.
func Crowded(err error) bool { return says(err, Unknown, "pessimistic lock retry limit reached") }

// ended says whether a shard has no transaction any more that this one goes on with: it took too long, or the shard was given to another server. All of
// it was rolled back, and a COMMIT that comes after would be answered as if it had been done.
func ended(err error) bool {
	return says(err, QueryInterrupted, "transaction ") && says(err, QueryInterrupted, " ended at ", " not found", " in use: for tx killer rollback")
}

// says whether an error has a number, and one of these in its text.
func says(err error, number uint16, texts ...string) bool {
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != number {
		return false
	}
	for _, text := range texts {
		if strings.Contains(server.Message, text) {
			return true
		}
	}
	return false
}

// WithoutStatement is an error of a server without the statement and its values, which Vitess puts behind what went wrong: they are the app's.
func WithoutStatement(err error) error {
	server, is := err.(*mysql.MySQLError)
	if !is {
		return err
	}
	text := server.Message
	for _, from := range []string{" (CallerID: ", ": Sql: \""} {
		text, _, _ = strings.Cut(text, from)
	}
	if text == server.Message {
		return err
	}
	short := *server
	short.Message = text
	return &short
}
