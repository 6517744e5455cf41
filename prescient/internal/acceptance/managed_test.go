package acceptance

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/prune"
	"prescient/prescient/reslot"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// managed are settings of servers that others manage, where nobody has SUPER: a binlog, no functions without it, names in lower
// case, a primary key for every table, and connections that are cut off where they idle.
func managed(flavour localserver.Flavour) (args []string, inForce string) {
	args = []string{"--server-id=7", "--log-bin=managed", "--binlog-format=ROW", "--log-bin-trust-function-creators=0",
		"--lower-case-table-names=1", "--wait-timeout=2", "--interactive-timeout=2"}
	inForce = "SELECT @@GLOBAL.log_bin = 1 AND @@GLOBAL.lower_case_table_names = 1 AND @@GLOBAL.wait_timeout = 2 AND @@GLOBAL.log_bin_trust_function_creators = 0 AND "
	if flavour == localserver.MySQL {
		return append(args, "--sql-require-primary-key=1"), inForce + "@@GLOBAL.sql_require_primary_key = 1"
	}
	return append(args, "--innodb-force-primary-key=1"), inForce + "@@GLOBAL.innodb_force_primary_key = 1"
}

func TestItIsAtHomeOnAServerThatOthersManage(t *testing.T) {
	t.Parallel()
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		args, inForce := managed(kind.Flavour())
		r := newRig(t, servertest.On(t, kind.Private(t, args...)), 15*time.Minute)
		r.Needs(t, rig.StoredProcedures)
		if r.Count(inForce) != 1 {
			t.Fatal("the settings are not in force")
		}
		// The tables of another installation are made by an account that has no right beyond its database.
		owner := r.As("owner", time.Time{})
		schema := migrate.Schema{Prefix: "q_", Resolution: time.Hour, Dialect: r.Setting}
		_, err := migrate.Up(t.Context(), owner.DB, schema)
		r.Must(err)
		_, err = migrate.Down(t.Context(), owner.DB, schema)
		r.Must(err)

		app := r.AppAt(rig.At("10:00"))
		insert := func(key string) {
			t.Helper()
			_, err := r.Client.Insert(t.Context(), app, prescient.NewJob{Entity: rig.Order(key), JobExec: "check", DueAt: rig.At("12:50")})
			r.Must(err)
		}
		insert("1")
		insert("2")
		settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		w := r.Worker(rig.At("13:00:01"), settled, worker.Options{})
		r.Eventually("the server has cut off the app's idle connections", func() bool { return r.Sessions("user = ?", r.User("app-reschedule")) == 0 })
		insert("3")
		n, err := r.Client.Cancel(t.Context(), app, rig.Order("2"))
		if r.Must(err); n != 1 {
			t.Errorf("cancelled %d", n)
		}
		figures, err := w.Run(t.Context())
		if r.Must(err); figures.Done != 2 {
			t.Errorf("%+v", figures)
		}
		r.Balanced()
		_, err = prune.Run(t.Context(), owner, prune.Options{Prefix: "p_", Keep: 90 * 24 * time.Hour})
		r.Must(err)
		for _, use := range []doctor.Use{doctor.UseWorker, doctor.UseOwner} {
			found, err := doctor.Examine(t.Context(), r.As(string(use), time.Time{}), doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: use, Resolution: 15 * time.Minute})
			r.Must(err)
			for _, f := range found {
				if f.Severity == doctor.SeverityBad {
					t.Errorf("as %s: %+v", use, f)
				}
			}
		}
		r.throughAProxyThatCutsIdleConnections()
		r.namesABinlogByStatement()
		_, err = reslot.Run(t.Context(), owner, reslot.Options{Prefix: "p_", Resolution: time.Hour})
		r.Must(err)
	})
}

// namesABinlogByStatement shows the harm of that, and that the doctor names it.
func (r *testRig) namesABinlogByStatement() {
	r.T.Helper()
	_, err := r.Root.Exec("SET GLOBAL binlog_format = 'STATEMENT'")
	r.Must(err)
	defer r.Exec("SET GLOBAL binlog_format = 'ROW'")
	db, err := connect.Open(r.Account("worker"), 0)
	r.Must(err)
	defer db.Close()
	found, err := doctor.Examine(r.T.Context(), db, doctor.Options{Prefix: "p_", Dialect: r.Setting, Resolution: 15 * time.Minute})
	r.Must(err)
	for _, f := range found {
		if f.Code == "binlog" && (f.Severity != doctor.SeverityBad || !strings.Contains(f.Text, "binlog_format is STATEMENT") || !strings.Contains(f.Do, "ROW")) {
			r.T.Errorf("%+v", f)
		}
	}
	if _, err := db.Exec("UPDATE p_slot_run SET token = token + 1"); !errno.Is(err, 1665) { // at the isolation level of workers
		r.T.Errorf("a write of a worker: %v; want it refused", err)
	}
}

func (r *testRig) throughAProxyThatCutsIdleConnections() {
	r.T.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	r.Must(err)
	proxy := &proxy{to: r.D.Server.Addr()}
	go proxy.serve(listener)
	r.T.Cleanup(func() { _ = listener.Close(); proxy.cut() })
	through := func(role string) string {
		return strings.Replace(r.Account(role), "tcp("+r.D.Server.Addr()+")", "tcp("+listener.Addr().String()+")", 1)
	}
	app := servertest.Open(r.T, through("app"), rig.FixedClock(rig.At("10:00")))
	db, err := connect.Open(servertest.WithParams(through("worker"), rig.FixedClock(rig.At("14:00:01"))), 0)
	r.Must(err)
	defer db.Close()
	settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	w, err := worker.New(r.T.Context(), db, worker.Options{Prefix: "p_", Dialect: r.Setting, Registry: settled})
	r.Must(err)
	for _, key := range []string{"4", "5", "6"} {
		if proxy.cut() == 0 {
			r.T.Fatal("nothing goes through the proxy")
		}
		_, err := r.Client.Insert(r.T.Context(), app, prescient.NewJob{Entity: rig.Order(key), JobExec: "check", DueAt: rig.At("13:50")})
		r.Must(err)
	}
	if n, err := r.Client.Cancel(r.T.Context(), app, rig.Order("4")); n != 1 || err != nil {
		r.T.Errorf("cancelled %d, %v", n, err)
	}
	proxy.cut()
	if figures, err := w.Run(r.T.Context()); err != nil || figures.Done != 2 {
		r.T.Errorf("%+v, %v", figures, err)
	}
}

// proxy carries connections on, until it cuts them.
type proxy struct {
	to  string
	all sync.Mutex
	// open are both ends of each.
	open []net.Conn
}

func (p *proxy) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.all.Lock()
		p.open = append(p.open, client, server)
		p.all.Unlock()
		for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
			go func() {
				_, _ = io.Copy(way[0], way[1])
				_, _ = way[0].Close(), way[1].Close()
			}()
		}
	}
}

// cut closes what is open, and returns how many connections that were.
func (p *proxy) cut() (n int) {
	p.all.Lock()
	defer p.all.Unlock()
	for _, end := range p.open {
		_ = end.Close()
	}
	n = len(p.open) / 2
	p.open = nil
	return n
}
