package private

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	"prescient/prescient/rulebook"
	"prescient/sql"
)

// headerTime is for how long a request's header may take.
const headerTime = 10 * time.Second

// Page is the page of an installation, for whoever is at this machine.
type Page struct {
	DB            *sqlx.DB
	Prefix        string
	Dialect       sql.Dialect
	Guards        prescient.Guards
	Place, Colour string
	// Worker is who works off bulk runs, and moves checks as rules want them.
	Worker string
	Log    zerolog.Logger
}

// Serve serves the page, at an address of this machine alone, to admins that are not asked who they are, until stop is called. It works off bulk runs
// meanwhile, and moves checks as rules want them. The error wraps what the tables lack.
func (p Page) Serve(ctx context.Context, prog *program.Program, listener net.Listener) (stop func(), err error) {
	address := listener.Addr().String()
	o, err := ops.Open(ctx, ops.Options{Accounts: ops.Accounts{Viewer: p.DB, Operator: p.DB, Admin: p.DB}, Prefix: p.Prefix, Dialect: p.Dialect, Guards: p.Guards, Program: prog.Name})
	if err != nil {
		return nil, err
	}
	c, err := client.New(ctx, p.DB, client.Options{Prefix: p.Prefix, Dialect: p.Dialect, Guards: p.Guards})
	if err != nil {
		return nil, err
	}
	handler, err := prog.Page(ctx, door.Serving{Ops: o, Log: p.Log, Page: door.Page{DB: p.DB, Prefix: p.Prefix, Dialect: p.Dialect, BaseURL: URL(listener), Place: p.Place, Colour: p.Colour, Open: ops.Admin}})
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: door.OnlyFor(address, true, handler), ReadHeaderTimeout: headerTime}
	beside, end := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { _ = server.Serve(listener) }) // until it is closed
	all.Go(func() { program.WorkBulk(beside, o, p.Worker, p.Log) })
	all.Go(func() { program.WorkRules(beside, rulebook.New(c), p.DB, p.Worker, p.Log) })
	return func() {
		end()
		_ = server.Close() // what is asked just now is about tables that go
		all.Wait()
	}, nil
}

// URL is where a page is that is served there.
func URL(listener net.Listener) string { return "http://" + listener.Addr().String() }
