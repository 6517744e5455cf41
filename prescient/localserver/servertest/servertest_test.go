package servertest

import (
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	names := map[string]bool{}
	for range 2 {
		Each(t, func(t *testing.T, db Database) {
			if names[db.Name] {
				t.Errorf("%s was given twice", db.Name)
			}
			names[db.Name] = true
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

func TestPrivateServersMayBeKilled(t *testing.T) {
	for _, kind := range Kinds(t) {
		t.Run(string(kind), func(t *testing.T) {
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
