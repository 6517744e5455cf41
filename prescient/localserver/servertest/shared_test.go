package servertest

import (
	"reflect"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/sql/migrate"
)

// What one process of a run has made, and has given back, is for the others.
func TestADatabaseIsForTheTestsOfTheNextProcess(t *testing.T) {
	t.Setenv(sharedVariable, "yes")
	EachKind(t, func(t *testing.T, kind Kind) {
		d, ctx := kind.New(t), t.Context()
		config, err := mysql.ParseDSN(d.DSN)
		must(t, err)
		as := like{network: config.Net, address: config.Addr, schema: migrate.Schema{Prefix: "p_", Resolution: time.Minute}, by: t.Name() + d.Name}
		for _, other := range []like{{schema: as.schema}, {by: as.by}, {schema: migrate.Schema{Prefix: "p_", Resolution: time.Second}, by: as.by}} {
			if other.digest() == as.digest() {
				t.Errorf("%+v and %+v are taken for the same", other, as)
			}
		}

		var to, found made
		to.Shape, to.Rows = "a shape", map[string]statement{"t": {Query: "INSERT", Args: [][]byte{nil, {}, []byte("text"), {0, 0xff, 0x27}}}}
		to.Statements = []statement{to.Rows["t"], {Query: "DO 0"}}
		if told, err := d.told(ctx, as, &found); told || err != nil {
			t.Errorf("told before anybody did: %v, %v", told, err)
		}
		must(t, d.tell(ctx, as, &to))
		must(t, d.tell(ctx, as, &made{Shape: "of who came later"}))
		if told, err := d.told(ctx, as, &found); !told || err != nil || !reflect.DeepEqual(&found, &to) {
			t.Errorf("told %v: %+v, %v; want %+v", told, &found, err, &to)
		}

		other := kind.New(t)
		other.own.kept, other.own.accounts = true, map[string]account{"app": {"GRANT ALL", "GRANTED"}}
		must(t, other.share(as))
		used, is, err := d.takeShared(ctx, as)
		if err != nil || !is || used.Name != other.Name || used.DSN != other.DSN || !reflect.DeepEqual(used.own.accounts, other.own.accounts) {
			t.Fatalf("taken %v: %+v, %v; want %+v", is, used, err, other)
		}
		if again, is, err := d.takeShared(ctx, as); is || err != nil {
			t.Errorf("taken twice: %v, %v", again, err)
		}
		must(t, used.drop())

		as.server = d.Server
		as.schema.Set = new(migrate.Set)
		if err := d.tell(ctx, as, &to); as.isShared() || err != nil {
			t.Errorf("migrations of a test's own are shared (%v)", err)
		}
	})
}
