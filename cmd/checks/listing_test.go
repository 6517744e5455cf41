package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// However few rows a search looks at, a program that follows the cursor in the output comes to what it looks for.
func TestATruncatedSearchSaysInItsOutputHowToGoOn(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("insert", "--entity", "order/last", "--exec", "rare", "--at", "2026-11-20 19:00")
		for i := range 5 {
			r.OK("insert", "--entity", fmt.Sprintf("order/%d", i), "--exec", "a", "--at", fmt.Sprintf("2026-11-20 %d:00", 11+i))
		}
		type line struct {
			EntityKey string `json:"entity_key"`
			More      bool
			After     string
			LookedAt  int `json:"looked_at"`
			Reached   string
		}
		find := func(list string) {
			after, ways := "", 0
			for ; ways < 10; ways++ {
				got := rig.Lines[line](r.T, r.OK(list, "--json", "--exec", "rare", "--search", "2", "--after", after))
				if len(got) > 0 && got[0].EntityKey == "last" {
					break
				}
				if len(got) != 1 || !got[0].More || got[0].After == "" || got[0].LookedAt != 2 || got[0].Reached == "" {
					r.Fatalf("%s: %+v", list, got)
				}
				after = got[0].After
			}
			if ways == 0 || ways == 10 {
				r.Errorf("%s: found after %d searches that ended early", list, ways)
			}
		}
		find("pending")
		text := r.Execute("pending", "--exec", "rare", "--search", "2")
		text.Wants(r.T, cmd.ExitOK, "go on with --after '2026-11-20 12:00:00/")
		if text.Out != "nothing matches the filter among the 2 rows that were looked at\n" {
			r.Errorf("%v", text)
		}
		r.OK("cancel", "--entity", "order/last") // it is the first that ended, and so the last that is listed
		for i := range 5 {
			r.At(fmt.Sprintf("10:%02d", 6+i))
			r.OK("cancel", "--entity", fmt.Sprintf("order/%d", i))
		}
		find("history")
		text = r.Execute("history", "--exec", "rare", "--search", "2")
		text.Wants(r.T, cmd.ExitOK, "go on with --after '")
		if text.Out != "nothing matches the filter among the 2 rows that were looked at\n" {
			r.Errorf("%v", text)
		}
	})
}

// jobs is pending under the name that it had before: it works, warns on stderr, and no help or completion has it.
func TestTheFormerNameOfPendingWorksAndWarns(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("insert", "--entity", "order/1", "--exec", "a", "--in", "1h")
		now, before := r.Execute("pending", "--json"), r.Execute("jobs", "--json")
		if now.Code != cmd.ExitOK || now.Err != "" || !strings.Contains(now.Out, "order") {
			r.Errorf("pending: %v", now)
		}
		if want := "The command jobs is now called pending: use prescient pending.\n"; before.Code != cmd.ExitOK || before.Out != now.Out || before.Err != want {
			r.Errorf("jobs: %v\nwant %v and on stderr %s", before, now, want)
		}
	})
	if help := rig.Execute(t.Context(), cmd.Options{}, nil, "", "--help").Out; !strings.Contains(help, "\n  pending ") || strings.Contains(help, "\n  jobs ") {
		t.Errorf("the help: %s", help)
	}
	if words := rig.Execute(t.Context(), cmd.Options{}, nil, "", "__complete", "").Out; !strings.Contains(words, "pending\t") || strings.Contains(words, "jobs\t") {
		t.Errorf("the completion: %s", words)
	}
}

func TestAnEmptyListingSaysWhetherTheFilterMadeItSo(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		says := func(want string, args ...string) {
			if got := r.Execute(args...); got.Code != cmd.ExitOK || got.Out != want+"\n" || got.Err != "" {
				r.Errorf("%v\nwant %s", got, want)
			}
		}
		says("nothing has ended", "history")
		says("nothing is pending", "pending")
		says("nothing is pending", "slots")
		r.OK("insert", "--entity", "order/1", "--exec", "a", "--in", "1h")
		r.OK("insert", "--entity", "order/2", "--exec", "a", "--in", "1h")
		r.OK("cancel", "--entity", "order/2")
		for _, filter := range []string{"--exec b", "--entity invoice", "--entity order/3", "--before 2026-01-01T00:00Z", "--slot 2026-11-20T20:00Z"} {
			says("nothing that is pending matches the filter", append([]string{"pending"}, strings.Fields(filter)...)...)
			says("nothing that has ended matches the filter", append([]string{"history"}, strings.Fields(filter)...)...)
		}
		says("nothing that has ended matches the filter", "history", "--outcome", "done")
		says("nothing is pending in this time", "slots", "--before", "now")
		says("nothing comes behind this cursor", "pending", "--after", r.Jobs()[0].Cursor)
		if got := r.Execute("pending", "--json", "--exec", "b"); got.Out != "" {
			r.Errorf("%v", got)
		}
	})
}
