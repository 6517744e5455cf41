package servertest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	var mu sync.Mutex
	names := map[string]bool{}
	for _, each := range []func(*testing.T, func(*testing.T, Database)){Each, EachInTurn} {
		each(t, func(t *testing.T, db Database) {
			mu.Lock()
			if names[db.Name] {
				t.Errorf("%s was given twice", db.Name)
			}
			names[db.Name] = true
			mu.Unlock()
			conn := db.Open(t, "parseTime=true")
			if _, err := conn.Exec("CREATE TABLE things (id INT PRIMARY KEY)"); err != nil {
				t.Error(err)
			}
			var current, version string
			if err := conn.QueryRow("SELECT DATABASE(), VERSION()").Scan(&current, &version); err != nil || current != db.Name {
				t.Errorf("the database is %q (%v), want %q", current, err, db.Name)
			}
			t.Log(version)
		})
	}
	Each(t, func(t *testing.T, db Database) {
		for name := range names {
			var found int
			err := db.Open(t, "").QueryRow("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", name).Scan(&found)
			if err != nil || found != 0 {
				t.Errorf("%s was not dropped: %d, %v", name, found, err)
			}
		}
	})
}

func TestEachIsOnAllServersAtTheSameTime(t *testing.T) {
	kinds := Kinds(t)
	var there sync.WaitGroup
	there.Add(len(kinds))
	all := make(chan struct{})
	go func() {
		there.Wait()
		close(all)
	}()
	Each(t, func(t *testing.T, _ Database) {
		there.Done()
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Error("it does not run on the other servers meanwhile")
		}
	})
}

func TestEachInTurnIsOnOneServerAtATime(t *testing.T) {
	var running, ran atomic.Int32
	EachInTurn(t, func(t *testing.T, _ Database) {
		if n := running.Add(1); n != 1 {
			t.Errorf("%d run at a time", n)
		}
		t.Cleanup(func() { running.Add(-1) })
		ran.Add(1)
	})
	if n := int(ran.Load()); n != len(Kinds(t)) {
		t.Errorf("it ran on %d servers of %d", n, len(Kinds(t)))
	}
}

func TestPrivateServersMayBeKilled(t *testing.T) {
	EachKind(t, func(t *testing.T, kind Kind) {
		server := kind.Private(t, "--max-connections=77")
		db := On(t, server)
		server.Kill()
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		var connections int
		if err := db.Open(t, "").QueryRow("SELECT @@max_connections").Scan(&connections); err != nil || connections != 77 {
			t.Errorf("max_connections is %d (%v), want what the test asked for", connections, err)
		}
	})
}

func TestWithParams(t *testing.T) {
	for _, tt := range []struct{ dsn, params, want string }{
		{"root:x@tcp(127.0.0.1:1)/a", "", "root:x@tcp(127.0.0.1:1)/a"},
		{"root:x@tcp(127.0.0.1:1)/a", "parseTime=true", "root:x@tcp(127.0.0.1:1)/a?parseTime=true"},
		{"root:x@tcp(127.0.0.1:1)/a?tls=true", "parseTime=true", "root:x@tcp(127.0.0.1:1)/a?tls=true&parseTime=true"},
		{"root:x?y@unix(/tmp/s)/a", "parseTime=true", "root:x?y@unix(/tmp/s)/a?parseTime=true"},
	} {
		if got := WithParams(tt.dsn, tt.params); got != tt.want {
			t.Errorf("WithParams(%q, %q) = %q, want %q", tt.dsn, tt.params, got, tt.want)
		}
	}
}
