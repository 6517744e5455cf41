package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/config/value"
	"prescient/prescient/localserver"
	"prescient/slots"
)

// flags are those of dev.
type flags struct {
	server     localserver.Options
	listen     string
	resolution time.Duration
}

// notHere are flags of the configuration that say what dev says itself, and what of dev.
var notHere = []struct{ flag, instead string }{
	{"dsn", "dev has a server of its own"}, {"dsn-file", "dev has a server of its own"}, {"slots-resolution", "dev has --resolution"},
	{"serve-address", "dev has --listen"},
}

// Command returns the command dev.
func Command(prog *program.Program) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Develop an app: a private server, a worker, the page, and what goes out",
		Long: `Starts a private MariaDB or MySQL in a temporary folder, makes the tables, and works until SIGTERM or SIGINT; then all of it
is gone. It prints how to reach the database, and where the page is, for whoever is at this machine. After that it prints a
line for each call of a check with its answer, for what became of the check, and for each event, which goes nowhere else.

The configuration is read again when its file changes, and the checks are those that the file has then. While there is a
fault in it stderr says so, and the checks of before go on. A check that is not there yet waits for it.

A slot comes every 5 seconds, so that one sees soon what is due now, and what is tried again one, two and four slots later.
Of the configuration dev leaves out the database and TLS, slots.resolution, which slots a worker serves, heartbeats and notify,
which nobody is told. It serves every slot, sweeps every 5 seconds, and logs warnings unless --log-level says otherwise.`,
		Example: fmt.Sprintf(`  %[1]s dev
  %[1]s dev --server mysql --resolution 1s
  %[1]s dev --config shop.yaml --listen 127.0.0.1:9000 --json`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return develop(cmd, prog, f) },
	}
	arguments.Parsed(cmd.Flags(), &f.server, "server", "", localserver.Named, "mariadb or mysql, with a version or without, as in mariadb-11.8 (default the first that is found)")
	arguments.Parsed(cmd.Flags(), &f.listen, "listen", "127.0.0.1:8080", loopback, "host:port of the page, which only this machine reaches; without the flag another port where this one is taken")
	arguments.Parsed(cmd.Flags(), &f.resolution, "resolution", "5s", resolution, "the distance between two slots; divides a day")
	return cmd
}

// loopback reads an address that only this machine reaches.
func loopback(text string) (string, error) {
	if err := value.CheckListen(text); err != nil {
		return "", err
	}
	host, _, err := net.SplitHostPort(text)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("%s: 127.0.0.1, localhost or [::1] is allowed, and a port: the page asks nobody who they are", value.Quote(text))
	}
	return text, nil
}

func resolution(text string) (time.Duration, error) {
	d, err := value.ParseDuration(text)
	if err == nil {
		_, err = slots.NewGrid(d)
	}
	return d, err
}

// develop refuses what is wrong before anything is started.
func develop(cmd *cobra.Command, prog *program.Program, f flags) (err error) {
	for _, not := range notHere {
		if cmd.Flags().Changed(not.flag) {
			return exit.Usage(fmt.Errorf("--%s is not for dev: %s", not.flag, not.instead))
		}
	}
	if err := arguments.NotEmpty(cmd, "server"); err != nil {
		return err
	}
	if prog.Page == nil && cmd.Flags().Changed("listen") {
		return exit.Usage(errors.New("--listen: this program has no page"))
	}
	ctx := cmd.Context()
	s := newStage(cmd, prog, f)
	defer func() { err = errors.Join(err, s.end()) }()
	if err := s.set(ctx); err != nil {
		return err
	}
	return s.work(ctx)
}

// listen listens where it is told to, and, unless a person told it, elsewhere on this machine where that is taken: two may develop at once.
func listen(ctx context.Context, address string, told bool) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil && !told {
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, &exit.Error{Code: exit.CodeFailure, Err: fmt.Errorf("--listen: %w", err)}
	}
	return listener, nil
}
