package pages

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
)

// Program returns a program in which examples are written: the first that does what is tried, of those that a script has found or unpacked and
// that on PATH. The script has the name of the folder in the cache that it unpacks to.
func Program(t testing.TB, script, name string, try ...string) string {
	t.Helper()
	folders := append(filepath.SplitList(os.Getenv("PRESCIENT_SERVER_DIR")), filepath.Join(localserver.CacheDir(), script))
	var all []string
	for _, folder := range folders {
		all = append(all, filepath.Join(folder, name), filepath.Join(folder, "bin", name))
	}
	if onPath, err := exec.LookPath(name); err == nil {
		all = append(all, onPath)
	}
	does := slices.IndexFunc(all, func(program string) bool {
		_, err := os.Stat(program)
		return err == nil && exec.CommandContext(t.Context(), program, try...).Run() == nil
	})
	if does < 0 {
		t.Fatalf("no %s in the cache or on PATH can do %q: run scripts/%s", name, try, script)
	}
	return all[does]
}

// SecretOfShop is that of the checks and of the events of the shops in scripts/languages.
const SecretOfShop = "a secret of the shop's"

// EnvOfShop is what such a shop is told of its database.
func EnvOfShop(t testing.TB, dsn string) []string {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	rig.Fatal(t, err)
	host, port, err := net.SplitHostPort(config.Addr)
	rig.Fatal(t, err)
	return []string{"DB_HOST=" + host, "DB_PORT=" + port, "DB_USER=" + config.User, "DB_PASSWORD=" + config.Passwd, "DB_NAME=" + config.DBName, "SECRET=" + SecretOfShop}
}
