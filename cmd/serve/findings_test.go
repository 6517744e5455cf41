package serve_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// A worker tells whoever is configured of what doctor finds, by signed webhooks and Alertmanager's API.
func TestAWorkerTellsOfFindings(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		told := make(chan string, 100)
		signed, err := standardwebhooks.NewWebhookRaw([]byte("s3cret"))
		r.Must(err)
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			body, _ := io.ReadAll(request.Body)
			if request.URL.Path == "/hook/s3cret" {
				if err := signed.Verify(body, request.Header); err != nil {
					r.Errorf("%v: %s", err, body)
				}
			}
			told <- request.URL.Path + " " + string(body)
		}))
		r.Cleanup(service.Close)
		r.OK("migrate")
		r.OK("pause", "--all", "--reason", "the move")
		r.Variables["NOTIFY_SECRET"] = "s3cret"
		r.Variables["PRESCIENT_CONFIG"] = r.Configure("serve: {place: shop}\nnotify:\n  hold: 0s\n  receivers:\n  - {name: team, url: '" + service.URL + "/hook/s3cret', secret_env: NOTIFY_SECRET, rate: 600}\n" +
			"  - {name: am, kind: alertmanager, url: '" + service.URL + "/am'}\n  - {name: nobody, url: 'http://127.0.0.1:1/s3cret'}\n")
		p := r.Start("a", "work")
		var all string
		rig.Eventually(r.T, "receivers are told", func() bool {
			select {
			case one := <-told:
				all += one + "\n"
			default:
			}
			return strings.Contains(all, `"receiver":"team","findings":[{"kind":"new","code":"paused"`) && strings.Contains(all, "/am/api/v2/alerts ") && strings.Contains(all, `"place":"shop"`)
		})
		p.Says(r.T, `"receiver":"nobody"`)
		r.Must(p.Process.Signal(syscall.SIGTERM))
		p.Ends(r.T, cmd.ExitOK)
		if n := r.Count("SELECT COUNT(*) FROM finding WHERE code = 'paused' AND told_at IS NOT NULL"); n != 2 {
			r.Errorf("%d receivers were told", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM finding WHERE code = 'paused' AND receiver = 'nobody' AND message IS NOT NULL"); n != 1 {
			r.Errorf("%d messages wait", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM duty WHERE name = 'notify' AND allocated_until IS NULL"); n != 1 {
			r.Error("the duty was not given back")
		}

		// A timer tells the same: who was told knows, and who cannot be is named.
		p = r.Start("b", "notify")
		p.Says(r.T, "a receiver could not be told: nobody: ")
		p.Ends(r.T, 1)
		r.OK("resume", "--all")
		r.Variables["PRESCIENT_CONFIG"] = r.Configure("notify:\n  hold: 0s\n  gone: 0s\n  receivers: [{name: team, url: '" + service.URL + "/hook/s3cret', secret_env: NOTIFY_SECRET}]\n")
		r.Start("c", "notify").Ends(r.T, cmd.ExitOK)
		for !strings.Contains(all, `"kind":"over","code":"paused"`) && len(told) > 0 {
			all += <-told + "\n"
		}
		if !strings.Contains(all, `"receiver":"team","findings":[{"kind":"over","code":"paused"`) {
			r.Errorf("the end was not told: %s", all)
		}

		// What is wrong is said by its name, before anything works.
		for text, want := range map[string]string{
			"ignore: overdoe": `notify.ignore: invalid: no finding has the code "overdoe"`,
			"receivers: [{name: a, kind: mail, url: 'smtp://h1', from: 'a@example.org', to: 'a@example.org'}]": "notify.receivers[0].url: this program was built without e-mail",
		} {
			r.Variables["PRESCIENT_CONFIG"] = r.Configure("notify:\n  " + text + "\n")
			if got := r.Execute("work"); got.Code == cmd.ExitOK || !strings.Contains(got.Err, want) {
				r.Errorf("%s: %s", text, got)
			}
		}
	})
}
