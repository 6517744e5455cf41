package acceptance

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A program that only inserts, or works, compiles no migrator, nothing of Prometheus, and nothing that tells people of findings.
func TestLayoutLeavesMigratorAndPrometheusToWhoNeedsThem(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "prescient/prescient/client", "prescient/prescient/worker", "prescient/prescient/service").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(list))
	for _, name := range packages {
		if regexp.MustCompile(`goose|afero|^prescient/sql/migrate$|prometheus|^prescient/prescient/notify|go-mail`).MatchString(name) {
			t.Errorf("client, worker or service compile %s", name)
		}
	}
	if len(packages) < 100 {
		t.Errorf("only %d packages were found", len(packages))
	}
}
