package servertest

import (
	"encoding/json"
	"flag"
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

		of := shared{d.DSN}
		var to, found made
		to.Shape, to.Rows = "a shape", map[string]statement{"t": {Query: "INSERT", Args: [][]byte{nil, {}, []byte("text"), {0, 0xff, 0x27}}}}
		to.Statements = []statement{to.Rows["t"], {Query: "DO 0"}}
		how, err := of.made(ctx, as.digest())
		if how != nil || err != nil {
			t.Errorf("told before anybody did: %s, %v", how, err)
		}
		told, err := json.Marshal(&to)
		must(t, err)
		must(t, of.tell(ctx, as.digest(), told))
		must(t, of.tell(ctx, as.digest(), []byte("of who came later")))
		how, err = of.made(ctx, as.digest())
		must(t, err)
		if err := json.Unmarshal(how, &found); err != nil || !reflect.DeepEqual(&found, &to) {
			t.Errorf("told: %s, %v; want %+v", how, err, &to)
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

		as.schema.Set = new(migrate.Set)
		if as.isShared() {
			t.Error("migrations of a test's own are shared")
		}
	})
}

func TestATestOfItsOwnHasADatabaseOfItsOwn(t *testing.T) {
	t.Setenv(sharedVariable, "yes")
	run := flag.Lookup("test.run").Value
	was := run.String()
	t.Cleanup(func() { must(t, run.Set(was)) })
	for by, shares := range map[string]bool{"": true, "Cancel|EachRole": true, "^TestACancel$": false, "^TestACancel$/^mysql$": false} {
		must(t, run.Set(by))
		if mayShare() != shares {
			t.Errorf("-run %q shares databases: %v", by, !shares)
		}
	}
}
