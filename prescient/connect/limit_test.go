package connect

import (
	"testing"
	"time"
)

// What was given up by its caller goes on in the server, until the server itself ends it.
func TestTheServerEndsAStatementThatTakesTooLong(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		db, err := OpenWith(r.D.DSN, Options{StatementTime: time.Second})
		r.Must(err)
		defer db.Close()
		began := time.Now()
		var slept int
		err = db.GetContext(t.Context(), &slept, "SELECT SLEEP(20)") // MySQL ends it with 1, MariaDB with an error
		if took := time.Since(began); took > 10*time.Second || err == nil && slept == 0 {
			t.Errorf("%d, %v after %s", slept, err, took)
		}
	})
}
