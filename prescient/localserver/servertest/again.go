package servertest

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// To make the tables of a database and to drop them is most of what a server has to do for a test. So one that a test leaves as it was
// made is given to the next that wants one like it: Keep says so, and what made it; Again asks for it.

// goesWith has the database dropped at the end of a test that does not give it back.
func (d Database) goesWith(t testing.TB) Database {
	kept := new(bool)
	d.kept = kept
	t.Cleanup(func() {
		if *kept {
			return
		}
		if err := d.drop(); err != nil {
			t.Errorf("dropping the test's database %s (did a transaction stay open?): %v", d.Name, err)
		}
	})
	return d
}

// Again returns a database that another test gave back, and that was made like this; none is there before one was.
func Again(t testing.TB, like any) (d Database, is bool) {
	servers.Lock()
	defer servers.Unlock()
	free := servers.kept[like]
	if len(free) == 0 {
		return Database{}, false
	}
	d, servers.kept[like] = free[len(free)-1], free[:len(free)-1]
	return d.goesWith(t), true
}

// Keep gives a database back at the end of a test, if clean says that it is as it was made, with nobody connected to it. like says how
// it was made: by that another test gets it.
func (d Database) Keep(like any, clean func() bool) {
	if d.kept == nil || !clean() { // those of a server that a test has for itself go with it
		return
	}
	servers.Lock()
	defer servers.Unlock()
	if servers.kept == nil {
		servers.kept = make(map[any][]Database)
	}
	*d.kept = true
	servers.kept[like] = append(servers.kept[like], d)
}

// dropKept drops those that no test has at the end.
func dropKept() (err error) {
	servers.Lock()
	defer servers.Unlock()
	for _, free := range servers.kept {
		for _, d := range free {
			if failed := d.drop(); failed != nil {
				err = fmt.Errorf("dropping database %s, which was used again (did a transaction stay open?): %w", d.Name, failed)
			}
		}
	}
	return err
}

func (d Database) drop() error {
	config, err := mysql.ParseDSN(d.DSN)
	if err != nil {
		return err
	}
	config.DBName = ""
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	return execute(ctx, config.FormatDSN(), "SET lock_wait_timeout = 20", "DROP DATABASE "+d.Name)
}
