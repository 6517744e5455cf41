package cmd_test

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// foreign are words of Go, of its packages and of the driver: they tell whoever reads them nothing of what he did.
var foreign = regexp.MustCompile(`strconv|Go struct|Go value|unmarshal|\*errors|\*fs\.|<nil>|%!|\bpanic\b|goroutine|runtime error|invalid connection|` +
	`bad connection|malformed packet|dial (tcp|unix)|(read|write) tcp|i/o timeout|context deadline exceeded|context canceled|\bEOF\b|` +
	`(^|[^.\w])(json|sql|mysql|driver|yaml|tls|x509|net|pflag|viper): [^[]|time: (invalid|missing|unknown)|0x[0-9a-f]{4,}|copy_file_range|syscall|errno|\.go:\d|\(type |` +
	`interface conversion|no rows in result set`)

// documented are the exit codes that the help names, but for that of an interruption.
var documented = sync.OnceValue(func() (codes []int) {
	_, list, _ := strings.Cut(cmd.New(cmd.Options{Args: []string{}}).Long, "Exit codes:\n")
	for line := range strings.Lines(list) {
		if code, err := strconv.Atoi(strings.Fields(line)[0]); err == nil && code != cmd.ExitInterrupted {
			codes = append(codes, code)
		}
	}
	return codes
})

// wellPut returns what is wrong with how a command line was answered; empty for nothing.
func wellPut(r rig.Result) string {
	said := r.Out + r.Err
	switch {
	case foreign.MatchString(said):
		return fmt.Sprintf("says %q", foreign.FindString(said))
	case !slices.Contains(documented(), r.Code):
		return "has an exit code that is not documented"
	case r.Code != cmd.ExitOK && r.Code < cmd.ExitWarn && r.Err == "" && r.Out == "":
		return "fails without a word"
	case strings.Count(r.Err, "\n") > 4 || len(r.Err) > 2000:
		return "says too much"
	case strings.ContainsFunc(said, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == '\uFFFD' }):
		return "prints what could drive a terminal"
	}
	return ""
}

// usual are values of flags that many commands want; with them a command comes as far as the flag that is wrong.
var usual = map[string]string{"entity": "order/1", "exec": "x", "in": "1h", "role": "app", "keep": "90d", "resolution": "5m",
	"from": "now-1h", "outcome": "failed", "minutes": "0,30", "dsn": rig.NoServer, "binary": "/opt/prescient"}

// excluded are usual flags that do not go together with another one.
var excluded = map[string][]string{"at": {"in"}, "file": {"entity"}, "keep-going": {"entity"}, "format": {"entity"}, "share": {"minutes"},
	"all-outcomes": {"outcome"}, "dsn-file": {"dsn"}, "topic": {"exec"}}

// leaves of the tree of commands: those that do something themselves.
func runnable(root *cobra.Command) (list []*cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, command := range root.Commands() {
		if command.Name() == "completion" || command.Name() == "help" {
			continue
		}
		if command.RunE != nil || command.Run != nil {
			list = append(list, command)
		}
		list = append(list, runnable(command)...)
	}
	return list
}

// path is a command's own words.
func path(command *cobra.Command) []string { return strings.Fields(command.CommandPath())[1:] }

// usually returns a command line that gets a command as far as possible, without the flag that is being tried.
func usually(command *cobra.Command, tried string) (args []string) {
	args = path(command)
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		value, is := usual[flag.Name]
		if is && flag.Name != tried && !slices.Contains(excluded[tried], flag.Name) {
			args = append(args, "--"+flag.Name+"="+value)
		}
	})
	if command.Name() == "grants" && tried != "user" {
		args = append(args, "--user=shop")
	}
	if command.Name() == "ceil" && tried != "" {
		args = append(args, "13:05")
	}
	if command.Name() == "check-endpoint" && tried != "" {
		args = append(args, "http://127.0.0.1:1/")
	}
	if command.Parent().Name() == "schedule" && tried != "" {
		switch command.Name() {
		case "next":
			args = append(args, "30 2 * * *")
		case "create", "update":
			args = append(args, "a", "30 2 * * *")
		case "import":
			args = append(args, "-")
		}
	}
	return args
}

// answers runs command lines, and fails for each that is answered badly. It returns those that wanted a database.
func answers(t *testing.T, env map[string]string, list [][]string) (wanted [][]string) {
	t.Helper()
	var mu sync.Mutex
	next := make(chan []string)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for args := range next {
				got := rig.Execute(t.Context(), cmd.Options{}, env, "", args...)
				wrong := wellPut(got)
				mu.Lock()
				if wrong != "" {
					t.Errorf("%s: %.600v", wrong, got)
				}
				if got.Code == cmd.ExitDatabase {
					wanted = append(wanted, args)
				}
				mu.Unlock()
			}
		})
	}
	for _, args := range list {
		next <- args
	}
	close(next)
	wg.Wait()
	return wanted
}

// fakeServer answers each connection as it is told to, and returns its address.
func fakeServer(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				answer(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

// usualLines are the usual command line of every command that asks a database, and with some of them none.
func usualLines(but ...string) (list [][]string) {
	for _, command := range runnable(cmd.New(cmd.Options{Args: []string{}})) {
		if args := usually(command, ""); !slices.Contains(but, strings.Join(path(command), " ")) {
			list = append(list, args)
		}
	}
	return list
}

func TestEveryCommandSaysInPlainWordsThatThereIsNoDatabase(t *testing.T) {
	t.Parallel()
	silent := fakeServer(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	closing := fakeServer(t, func(net.Conn) {})
	other := fakeServer(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") })
	half := fakeServer(t, func(c net.Conn) { _, _ = c.Write([]byte{80, 0, 0, 0, 10, '8', '.'}) })
	for about, dsn := range map[string]string{
		"it is silent":         "user:pw@tcp(" + silent + ")/x?readTimeout=20ms&timeout=20ms",
		"it closes at once":    "user:pw@tcp(" + closing + ")/x",
		"it is something else": "user:pw@tcp(" + other + ")/x",
		"it breaks off":        "user:pw@tcp(" + half + ")/x",
		"no socket":            "user:pw@unix(/nonexistent/mysql.sock)/x",
		"nobody listens":       rig.NoServer,
	} {
		list := usualLines("demo", "dev")
		if wanted := answers(t, map[string]string{"PRESCIENT_DSN": dsn}, list); len(wanted) < 15 {
			t.Errorf("%s: exit code %d for %q only", about, cmd.ExitDatabase, wanted)
		}
	}
	for _, dsn := range []string{"", " ", "x", "\x00", "user:pw@tcp(127.0.0.1:1)", "user:pw@tcp(127.0.0.1:1/x", "mysql://u:p@h/d", "u:p@udp(h:1)/d",
		"u:p@tcp(h:1)/d?timeout=soon", "u:p@tcp(h:1)/", strings.Repeat("x", 100_000), "u:p@tcp(127.0.0.1:99999)/d", "u:p@tcp(127.0.0.1:x)/d"} {
		answers(t, map[string]string{"PRESCIENT_DSN": dsn}, [][]string{{"pending"}, {"migrate"}, {"units", "systemd", "--binary=/bin/x"}, {"config"}, {"demo", "--dsn=" + dsn + "\x00"}})
	}
}

// notTriedOnAServer are the commands whose every bad line is not tried on a server: those that serve or change its tables,
// and those that ask none.
var notTriedOnAServer = []string{"run", "work", "sweep", "roll-forward", "forward", "notify", "migrate", "reslot", "prune", "grants", "units", "schedule", "config", "demo", "dev", "version"}

func TestEveryCommandSaysInPlainWordsWhatAServerLacks(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		answers(r.T, map[string]string{"PRESCIENT_DSN": r.DSN}, usualLines("demo", "dev", "migrate", "migrate up"))
		config, err := mysql.ParseDSN(r.DSN)
		r.Must(err)
		config.DBName = "px_cmd_nosuch"
		answers(r.T, map[string]string{"PRESCIENT_DSN": config.FormatDSN()}, usualLines("demo", "dev"))
		config.User = "nosuch"
		answers(r.T, map[string]string{"PRESCIENT_DSN": config.FormatDSN()}, usualLines("demo", "dev"))
	})
}
