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

// Each configuration on a page is one, where the file of its secret is.
func TestTheConfigurationsOnThePagesAreRead(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"jobs/README.md", "prescient/event/README.md"} {
		for _, block := range pages.Blocks(t, page, "yaml") {
			file := filepath.Join(dir, "prescient.yaml")
			if err := os.WriteFile(file, []byte(strings.Replace(block, "/run/secrets/invoice-unpaid", secret, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			config.AddFlags(flags)
			c, err := config.Load(config.Options{File: file, Flags: flags, Environ: func() []string { return nil },
				Env: func(name string) (string, bool) {
					v, is := map[string]string{"HOOK_SECRET": "s3cret"}[name]
					return v, is
				}})
			if err != nil || len(c.Jobs.HTTP)+len(c.Jobs.Command)+len(c.Events.Routes) != strings.Count(block, "url:")+strings.Count(block, "run:") {
				t.Errorf("%s: %v, of\n%s", page, err, block)
			}
		}
	}
}
