package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"prescient/config"
	"prescient/prescient/internal/rig/pages"
)

// Each configuration on a page is one, where the files of its secrets are.
func TestTheConfigurationsOnThePagesAreRead(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dsn := filepath.Join(dir, "dsn")
	if err := os.WriteFile(dsn, []byte("reader:s3cret@tcp(127.0.0.1)/shop"), 0o600); err != nil {
		t.Fatal(err)
	}
	written := strings.NewReplacer("/run/secrets/invoice-unpaid", secret, "/run/secrets/orders-reader", dsn)
	for _, page := range []string{"jobs/README.md", "prescient/event/README.md"} {
		for _, block := range pages.Blocks(t, page, "yaml") {
			file := filepath.Join(dir, "prescient.yaml")
			if err := os.WriteFile(file, []byte(written.Replace(block)), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			config.AddFlags(flags)
			c, err := config.Load(config.Options{File: file, Flags: flags, Environ: func() []string { return nil },
				Env: func(name string) (string, bool) {
					v, is := map[string]string{"HOOK_SECRET": "s3cret"}[name]
					return v, is
				}})
			if err != nil || len(c.Jobs.HTTP)+len(c.Jobs.Command)+len(c.Jobs.SQL)+len(c.Events.Routes) != strings.Count(block, "url:")+strings.Count(block, "run:")+strings.Count(block, "while:") {
				t.Errorf("%s: %v, of\n%s", page, err, block)
			}
		}
	}
}
