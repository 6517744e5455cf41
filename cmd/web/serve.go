package web

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	"prescient/prescient/worker"
	"prescient/sql"
)

// Serve returns the command serve.
func Serve(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Stay up with a page for people, and do over HTTP what callers with tokens ask for",
		Long: `Stays up and serves the API at /api/v1, which describes itself at /api/v1/openapi.json, and /healthz: 200 while the
database answers. A caller sends its token with each request (Authorization: Bearer pst_…); token create makes one.
What a caller may do is a matter of the token's role: a viewer sees all but payloads, an operator sees these and
changes checks, schedules and jobs, an admin also makes tokens and users.

All else is the page, where people sign in: users by name and password (user add), and with serve.oidc_issuer those whom
a provider of OpenID Connect names. Behind a proxy it needs serve.base_url, and serve.proxies to tell people apart.

It listens at serve.address, which other machines do not reach by default. At an address that they reach it does not
start unless a token is good or there is a user, or serve.open says which role requests without a token have. With serve.open at an address
of this machine alone, only requests for localhost or that address are taken: a page of another site cannot have a
browser send them. It also works off bulk runs, and has pending checks follow rules that were changed.

Operations run on the accounts of serve.dsn_viewer, serve.dsn_operator and serve.dsn_admin, and tokens are looked up on
that of serve.dsn_door: with accounts of their own (grants --role serve-viewer and so on) the database holds callers to
their roles, too. With serve.tls_cert_file and serve.tls_key_file it speaks TLS, by what the files hold now.

SIGTERM or SIGINT stops it gracefully: what is under way has worker.stop_grace to end. At log.level debug the log has
each request, without token and query.`,
		Example: fmt.Sprintf(`  %[1]s token create ci --role operator
  %[1]s serve
  curl -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:8080/api/v1/checks/pending?entity=order/42'`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			prog.StatementTime = statementTime
			return prog.OpenAs(cmd, asViewer, 0, func(s *program.Session) error {
				return s.Failed(cmd, serve(cmd.Context(), s))
			})
		},
	}
}

// asViewer has each account that is not given be that of dsn, and the session that of viewers.
func asViewer(c *config.Config) {
	v := &c.Serve
	for _, dsn := range []*value.Secret{&v.Viewer, &v.Operator, &v.Admin, &v.Door} {
		if dsn.IsZero() {
			*dsn = c.DSN
		}
	}
	c.DSN = v.Viewer
}

func serve(ctx context.Context, s *program.Session) error {
	if err := s.NewClient(ctx); err != nil {
		return err
	}
	if err := s.Register(ctx); err != nil {
		return err
	}
	counts := door.NewCounts()
	o, accounts, d, err := open(ctx, s, counts)
	if err != nil {
		return err
	}
	c := s.Config.Serve
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Address)
	if err != nil {
		return &exit.Error{Code: exit.CodeFailure, Err: fmt.Errorf("serve.address: %w", err)}
	}
	defer listener.Close() // the server has closed it by then, where there is one
	local := isLocal(listener.Addr())
	if err := admissible(ctx, s, d, local); err != nil {
		return err
	}
	var cert *certificate
	if c.CertFile != "" {
		if cert, err = readCertificate(c.CertFile, c.KeyFile, s.Log); err != nil {
			return exit.Usage(fmt.Errorf("serve.tls_cert_file, serve.tls_key_file: %w", err))
		}
	}
	serving := door.Serving{Ops: o, Authenticate: d.Authenticate, Concurrent: c.Concurrent, Rate: float64(c.Rate), Proxies: c.Proxies, Counts: counts, Version: s.Program.Version, Log: s.Log, Page: pageOf(s, d)}
	handler := s.Program.Serve(serving)
	if s.Program.Page != nil {
		pages, err := s.Program.Page(ctx, serving)
		if err != nil {
			return fmt.Errorf("the page: %w", s.Explain(err))
		}
		handler = besidePages(c.BaseURL, handler, pages)
	}
	handler = withHealth(handler, d.Alive)
	if c.Open != "" {
		handler = door.OnlyFor(c.Address, local, handler)
	}
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	all.Go(func() { d.Serve(beside) })
	all.Go(func() { program.WorkBulk(beside, o, worker.NewName(), s.Log) })
	all.Go(func() { program.WorkRules(beside, s.Rules, accounts.Operator, worker.NewName(), s.Log) })
	defer func() { stop(); all.Wait() }()
	return listen(ctx, s, listener, cert, logged(s.Log, d.Address, handler), usual(), counts)
}

// pageOf is what the page is made with.
func pageOf(s *program.Session, d *door.Door) door.Page {
	c, o := s.Config.Serve, s.Config.Serve.OIDC
	p := door.Page{DB: d.DB(), Open: ops.Role(c.Open), Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), BaseURL: c.BaseURL, Place: c.Place, Colour: c.Colour, Idle: c.SessionIdle, Lifetime: c.SessionTime,
		OIDC: door.OIDC{Issuer: o.Issuer, ClientID: o.ClientID, Secret: o.Secret.Reveal(), NameClaim: o.NameClaim, RoleClaim: o.RoleClaim, Roles: make(map[string]ops.Role)}}
	for of, role := range o.Roles {
		p.OIDC.Roles[of] = ops.Role(role)
	}
	return p
}

// open makes what does operations, with the accounts that these run on, and what knows callers.
func open(ctx context.Context, s *program.Session, counts *door.Counts) (*ops.Ops, ops.Accounts, *door.Door, error) {
	ctx, cancel := context.WithTimeout(ctx, program.ConnectTime)
	defer cancel()
	c := s.Config
	pools := map[string]*sqlx.DB{c.DSN.Reveal(): s.DB}
	pool := func(key string, dsn value.Secret) (*sqlx.DB, error) {
		text := dsn.Reveal()
		if text == "" {
			return nil, exit.Usage(fmt.Errorf("%s is missing, and dsn, which would stand for it", key))
		}
		if pools[text] != nil {
			return pools[text], nil
		}
		db, err := s.OpenPool(text, c.Worker.Lease)
		if err == nil {
			err = db.PingContext(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", key, dsn, err)
		}
		pools[text] = db
		return db, nil
	}
	accounts := ops.Accounts{Viewer: s.DB}
	var err error
	if accounts.Operator, err = pool("serve.dsn_operator", c.Serve.Operator); err != nil {
		return nil, ops.Accounts{}, nil, err
	}
	if accounts.Admin, err = pool("serve.dsn_admin", c.Serve.Admin); err != nil {
		return nil, ops.Accounts{}, nil, err
	}
	ofDoor, err := pool("serve.dsn_door", c.Serve.Door)
	if err != nil {
		return nil, ops.Accounts{}, nil, err
	}
	o, err := opsOf(ctx, s, accounts, counts)
	if err != nil {
		return nil, ops.Accounts{}, nil, s.Explain(err)
	}
	d, err := door.Open(ctx, ofDoor, door.Options{Prefix: c.TablePrefix, Dialect: sql.Dialect(c.Dialect), Open: ops.Role(c.Serve.Open), Proxies: c.Serve.Proxies, Log: s.Log})
	if err != nil {
		return nil, ops.Accounts{}, nil, fmt.Errorf("serve.dsn_door: %w", s.Explain(err))
	}
	sayLacking(ctx, s, accounts, ofDoor)
	return o, accounts, d, nil
}

// lackingWithin bounds how long the start waits for what accounts lack.
const lackingWithin = 5 * time.Second

// sayLacking warns of rights that an account lacks for its role, as after an upgrade: what needs them fails, and all else goes on.
func sayLacking(ctx context.Context, s *program.Session, of ops.Accounts, ofDoor *sqlx.DB) {
	ctx, cancel := context.WithTimeout(ctx, lackingWithin)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	for _, a := range []struct {
		key, role string
		db        *sqlx.DB
	}{{"serve.dsn_viewer", "serve-viewer", of.Viewer}, {"serve.dsn_operator", "serve-operator", of.Operator}, {"serve.dsn_admin", "serve-admin", of.Admin}, {"serve.dsn_door", "serve-door", ofDoor}} {
		all.Go(func() {
			lacking, err := door.Lacking(ctx, a.db, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect), a.role)
			if err != nil {
				s.Log.Warn().Err(err).Str("account", a.key).Msg("which rights the account lacks was not looked at")
			}
			if len(lacking) > 0 {
				s.Log.Warn().Str("account", a.key).Strs("lacks", lacking).Msgf("the account of %s lacks rights: what needs them fails until the statements of %s grants --role %s are run for it", a.key, s.Program.Name, a.role)
			}
		})
	}
}

// opsOf makes what does operations on these accounts.
func opsOf(ctx context.Context, s *program.Session, a ops.Accounts, metrics ...prometheus.Collector) (*ops.Ops, error) {
	c := s.Config
	return ops.Open(ctx, ops.Options{Accounts: a, Prefix: c.TablePrefix, Dialect: sql.Dialect(c.Dialect), Guards: c.Guards, Registry: s.Registry,
		Doctor: program.DoctorOptions(c), Program: s.Program.Name, Metrics: metrics})
}

// isLocal says whether an address is one that only this machine reaches.
func isLocal(address net.Addr) bool {
	tcp, is := address.(*net.TCPAddr)
	return is && tcp.IP.IsLoopback()
}

// admissible refuses an address that others reach, where nobody could be told from anybody.
func admissible(ctx context.Context, s *program.Session, d *door.Door, local bool) error {
	c := s.Config.Serve
	if c.Open != "" {
		s.Log.Warn().Str("role", c.Open).Msg("requests without a token are taken, as serve.open says")
		return nil
	}
	if local {
		return nil
	}
	has, err := d.HasToken(ctx)
	if err == nil && !has && s.Program.Page != nil {
		has, err = d.HasUser(ctx)
	}
	switch {
	case err != nil:
		return fmt.Errorf("serve.dsn_door: %w", s.Explain(err))
	case !has:
		return exit.Usage(fmt.Errorf("serve.address %s can be reached from other machines, and no token is good, nor is there a user of the page: make one first by %[2]s token create or %[2]s user add, or say by serve.open which role requests without a token have", c.Address, s.Program.Name))
	case c.CertFile == "":
		s.Log.Warn().Msg("there is no TLS: who can listen on the network sees tokens and passwords; give serve.tls_cert_file and serve.tls_key_file, or put what speaks TLS before this")
	}
	return nil
}
