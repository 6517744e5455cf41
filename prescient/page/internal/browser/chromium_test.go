package browser_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// folder is where scripts/chromium has unpacked what these tests need.
func folder(t *testing.T) string {
	t.Helper()
	folders := filepath.SplitList(os.Getenv("PRESCIENT_SERVER_DIR"))
	for _, folder := range append(folders, filepath.Join(localserver.CacheDir(), "chromium")) {
		if _, err := exec.LookPath(program(folder)); err == nil {
			return folder
		}
	}
	t.Fatal("there is no Chromium in PRESCIENT_SERVER_DIR or in the cache: run scripts/chromium")
	return ""
}

func program(folder string) string {
	return filepath.Join(folder, "bin", "chromium-headless-shell")
}

// axeOf is the text of axe-core, as scripts/chromium gets it where there is npm.
func axeOf(t *testing.T, folder string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "axe-*.js"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("there is no axe-core beside Chromium: install npm, then run scripts/chromium")
	}
	text, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// chromium is a browser of one test, whose tabs of the same context share cookies.
type chromium struct {
	t   *testing.T
	ctx context.Context
}

// start starts Chromium, which ends with the test.
func start(t *testing.T) *chromium {
	t.Helper()
	// The sandbox needs rights that a test as root, or in a container, does not have. Nothing but the page of the test is loaded.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program(folder(t))), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1200, 900), chromedp.Env("TZ=UTC", "DBUS_SESSION_BUS_ADDRESS=disabled:"))
	allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		end, done := context.WithTimeout(ctx, 20*time.Second)
		defer done()
		if err := chromedp.Cancel(end); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("stopping Chromium: %v", err)
		}
		cancel()
		stop()
	})
	if _, err := chromedp.Run(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return &chromium{t, ctx}
}
