package apiclient_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// client.gen.go is what the generator makes of openapi.json; UPDATE=1 go test -run Generated ./prescient/api/apiclient writes it.
func TestTheClientIsGeneratedFromTheDescription(t *testing.T) {
	made := filepath.Join(t.TempDir(), "client.gen.go")
	const room = "prescient/api/apiclient/"
	generate := exec.CommandContext(t.Context(), "go", "tool", "-modfile=scripts/lib/tools.mod", "oapi-codegen",
		"-config", room+"generator/config.yaml", "-templates", room+"generator/templates", "-o", made, "prescient/api/openapi.json")
	generate.Dir = "../../.." // where modules are
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("oapi-codegen: %v\n%s", err, out)
	}
	want, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("client.gen.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile("client.gen.go"); err != nil || !bytes.Equal(kept, want) {
		t.Errorf("client.gen.go is not what the generator makes (%v): UPDATE=1 go test -run Generated ./prescient/api/apiclient", err)
	}
}
