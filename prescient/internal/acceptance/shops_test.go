package acceptance

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	checks "prescient/jobs/http"
	"prescient/prescient"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/webhook"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig/pages"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/service"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// shops is the folder of the programs.
const shops = "../../../scripts/languages"

// program is a shop's: how a command of it is called, and how its server is started on a port; nil where it has none.
type program struct {
	command []string
	serve   func(port string) []string
}

// shopIn says what a shop is called by.
func shopIn(t *testing.T, language string) program {
	t.Helper()
	file := func(name string) string { return filepath.Join(shops, name) }
	serves := func(interpreter, shop, serving string) program { // what the worker calls is a program of its own beside the shop
		return program{[]string{interpreter, shop}, func(port string) []string { return []string{interpreter, serving, port} }}
	}
	switch language {
	case "python":
		return serves(pages.Program(t, language, "python3", "-c", "import pymysql, cryptography"), file("shop.py"), file("shop_http.py"))
	case "node":
		shop := onNode(t, language, file("shop.mjs"), file("shop_http.mjs"))
		return serves(shop[0], shop[1], shop[2])
	case "php":
		php := pages.Program(t, language, "php", "-r", "exit(extension_loaded('pdo_mysql') ? 0 : 1);")
		return program{[]string{php, file("shop.php")}, func(port string) []string { return []string{php, "-S", "127.0.0.1:" + port, file("shop_http.php")} }}
	case "ruby":
		return serves(pages.Program(t, language, "ruby", "-e", "require 'mysql2'; require 'webrick'"), file("shop.rb"), file("shop_http.rb"))
	case "java": // a program that is run from its text is one file
		command := []string{pages.Program(t, language, "java", "--version"), file("Shop.java")}
		return program{command, func(port string) []string { return append(slices.Clone(command), "serve", port) }}
	case "sqlalchemy", "django":
		return program{command: []string{pages.Program(t, "orm", "python3", "-c", "import "+language), file("orm/" + language + "_try.py")}}
	case "activerecord":
		return program{command: []string{pages.Program(t, language, "ruby", "-e", "require 'active_record'"), file("orm/activerecord_try.rb")}}
	case "sequelize", "prisma", "drizzle":
		return program{command: onNode(t, language, file("orm/"+language+"_try.mjs"))}
	}
	t.Fatalf("PRESCIENT_TEST_LANGUAGES has %q, in which there is no shop", language)
	return program{}
}

// onNode copies programs to where Node finds packages beside them: those that a script has put beside a Node of that name. It returns Node and the copies.
func onNode(t *testing.T, name string, files ...string) []string {
	t.Helper()
	node, dir := pages.Program(t, name, name, "--version"), t.TempDir()
	all := []string{node}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			all = append(all, filepath.Join(dir, filepath.Base(file)))
			err = os.WriteFile(all[len(all)-1], text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(filepath.Dir(node), "../node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return all
}

// The shop in each language does all that an app does with prescient. What is tried of an ORM holds.
func TestTheShopsRun(t *testing.T) {
	asked := os.Getenv("PRESCIENT_TEST_LANGUAGES")
	if asked == "" {
		asked = "python node"
	}
	for language := range strings.FieldsSeq(asked) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			its := shopIn(t, language)
			servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
				if s := open(t, d, its); its.serve != nil {
					s.starts()
					s.work(d.DSN)
					s.day()
				} else {
					s.Log(s.does())
				}
			})
		})
	}
}

// shop is a shop with its tables.
type shop struct {
	*testing.T
	program
	env   []string
	owner *sqlx.DB
	url   string
}

func open(t *testing.T, d servertest.Database, its program) *shop {
	s := &shop{T: t, program: its, owner: sqlx.NewDb(d.Open(t, "parseTime=true&multiStatements=true"), "mysql")}
	_, err := migrate.Up(t.Context(), s.owner.DB, migrate.Schema{Resolution: time.Second})
	s.must(err)
	own, err := os.ReadFile(filepath.Join(shops, "shop.sql"))
	s.must(err)
	s.owner.MustExec(string(own))
	app := pages.Account(t, d, s.owner, "app-sql", "")
	s.owner.MustExec(fmt.Sprintf("GRANT SELECT, INSERT, UPDATE ON %s.orders TO '%s'@'%%'; GRANT INSERT ON %[1]s.mail TO '%[2]s'@'%%'", d.Name, d.User("app-sql")))
	// The process is in another zone than the server.
	s.env = append(os.Environ(), append(pages.EnvOfShop(t, app), "TZ=Pacific/Marquesas")...)
	return s
}

func (s *shop) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// until waits until something is so.
func (s *shop) until(what string, is func() bool) {
	s.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(time.Minute); !is(); <-again.C {
		if time.Now().After(end) {
			s.Fatalf("it is not so that %s", what)
		}
	}
}

// starts starts the server of the shop, on a port that was free.
func (s *shop) starts() {
	s.Helper()
	address := s.freeAddress()
	s.url = "http://" + address
	var said strings.Builder
	server := s.server(address, s.env)
	server.Stdout, server.Stderr = &said, &said
	s.Cleanup(func() { // it has ended
		if s.Failed() {
			s.Logf("the shop said:\n%s", &said)
		}
	})
	s.runs(server)
	s.until("the shop is open", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// freeAddress is one that was free; the shop takes it.
func (s *shop) freeAddress() string {
	free, err := new(net.ListenConfig).Listen(s.Context(), "tcp", "127.0.0.1:0")
	s.must(err)
	defer free.Close()
	return free.Addr().String()
}

// server is that of the shop at an address.
func (s *shop) server(address string, env []string) *exec.Cmd {
	_, port, _ := net.SplitHostPort(address)
	serve := s.serve(port)
	cmd := exec.Command(serve[0], serve[1:]...)
	cmd.Env = env
	return cmd
}

// runs starts a server, which is killed in the end, and says what it ended with.
func (s *shop) runs(server *exec.Cmd) (ended <-chan error) {
	s.must(server.Start())
	all := make(chan error, 1)
	go func() { all <- server.Wait(); close(all) }()
	s.Cleanup(func() { _ = server.Process.Kill(); <-all })
	return all
}

// work starts a worker, which forwards events, too.
func (s *shop) work(dsn string) {
	s.Helper()
	hook := s.hook(pages.SecretOfShop)
	running, err := service.Open(s.Context(), dsn, service.Options{Worker: worker.Options{Name: "w1"},
		Events:  service.Events{Routes: []forward.Route{{Topics: "*", Broker: hook}}},
		Without: []service.Part{service.LongRuns, service.Jobs, service.Statistics, service.Forecast}})
	s.must(err)
	s.must(running.Registry.Register("order-unshipped", s.endpoint().Check, prescient.Guards{}))
	ctx, stop := context.WithCancel(context.Background()) // until the cleanup
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	s.Cleanup(func() { stop(); s.must(<-ended) })
}

func (s *shop) hook(secret string) broker.Broker {
	s.Helper()
	hook, err := webhook.Open(s.Context(), broker.Options{URL: s.url + "/events/{topic}", Secret: []byte(secret)})
	s.must(err)
	s.Cleanup(func() { _ = hook.Close() })
	return hook
}

func (s *shop) options() checks.Options {
	return checks.Options{URL: s.url + "/checks/order-unshipped", Secret: []byte(pages.SecretOfShop)}
}

func (s *shop) endpoint() *checks.Endpoint {
	s.Helper()
	endpoint, err := checks.New(s.options())
	s.must(err)
	s.Cleanup(endpoint.CloseIdle)
	return endpoint
}

func (s *shop) cmd(arguments ...string) *exec.Cmd {
	cmd := exec.Command(s.command[0], append(slices.Clone(s.command[1:]), arguments...)...)
	cmd.Env = s.env
	return cmd
}

// does runs a command of the shop, and returns the lines that it prints.
func (s *shop) does(arguments ...string) []string {
	s.Helper()
	var failed strings.Builder
	cmd := s.cmd(arguments...)
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("%q: %v: %s%s", arguments, err, out, &failed)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// isPending says that an order has one check, due in so long.
func (s *shop) isPending(order string, in time.Duration) {
	s.Helper()
	lines := s.does("look", order)
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "pending order-unshipped ") {
		s.Fatalf("of order %s it shows %q", order, lines)
	}
	due, err := time.Parse("pending order-unshipped 2006-01-02 15:04:05", lines[0])
	if left := time.Until(due); err != nil || left < in-time.Minute || left > in {
		s.Errorf("order %s: %q, which is in %s, %v; want in %s", order, lines[0], left, err, in)
	}
}

func (s *shop) ended(order, outcome string) {
	s.Helper()
	if lines := s.does("look", order); !slices.Equal(lines, []string{"ended order-unshipped " + outcome}) {
		s.Errorf("of order %s it shows %q", order, lines)
	}
}

// mails are those about an order.
func (s *shop) mails(order string) string {
	s.Helper()
	var all []string
	s.must(s.owner.SelectContext(s.Context(), &all, "SELECT text FROM mail WHERE order_id = ?", order))
	return strings.Join(all, ", ")
}

// day is what happens on a day.
func (s *shop) day() {
	s.does("place", "42", "19.90")
	s.isPending("42", 3*time.Hour)
	if out, err := s.cmd("place", "43", "0").CombinedOutput(); err == nil {
		s.Errorf("an order of nothing is placed: %s", out)
	}
	var none int
	s.must(s.owner.GetContext(s.Context(), &none, "SELECT (SELECT COUNT(*) FROM orders WHERE id = 43) + (SELECT COUNT(*) FROM future_job WHERE entity_key = '43')"))
	if lines := s.does("look", "43"); none != 0 || len(lines) != 0 {
		s.Errorf("of what was rolled back there is %d, %q", none, lines)
	}

	// One that is shipped in time, and who hears of it.
	s.does("place", "44", "5")
	s.does("ship", "44")
	s.ended("44", "cancelled")
	s.until("its mail is sent", func() bool { return s.mails("44") == "is on its way" })

	// One that is late, and shipped by somebody who cancels nothing.
	s.does("postpone", "42", "7200")
	s.isPending("42", 2*time.Hour)
	s.does("postpone", "42", "0")
	s.until("somebody is told that it is late", func() bool { return s.mails("42") == "is late" })
	s.until("it waits for an hour", func() bool {
		var waits bool
		s.must(s.owner.GetContext(s.Context(), &waits, "SELECT next_check_at > UTC_TIMESTAMP() + INTERVAL 50 MINUTE FROM future_job WHERE entity_key = '42'"))
		return waits
	})
	s.owner.MustExec("UPDATE orders SET shipped = TRUE WHERE id = 42")
	s.does("postpone", "42", "0")
	s.until("it is settled", func() bool {
		var ends int
		s.must(s.owner.GetContext(s.Context(), &ends, "SELECT COUNT(*) FROM job_history WHERE entity_key = '42'"))
		return ends == 1
	})
	s.ended("42", "done")
	if got := s.mails("42"); got != "is late" {
		s.Errorf("of order 42 was said: %q", got)
	}
	s.strangers()
	s.calls()
	s.events()
}
