package browser_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
)

// underWay has a slot run that nobody has ended, at which it is worth looking every few seconds.
func (s *site) underWay(done int) {
	s.T.Helper()
	s.Exec("REPLACE INTO p_slot_run (slot, bucket, buckets, token, batch_seq, worker, started_at, allocated_until, done) VALUES ('2026-11-20 13:30:00', 0, 2, 1, 1, 'app-1:4021', '2026-11-20 13:30:01', '2026-11-20 13:41:00', ?)", done)
}

func TestThePageRefreshesWhileItIsLookedAt(t *testing.T) {
	c := start(t)
	s := onOneServer(t, now)
	s.underWay(1203)
	b := s.tab(c, ops.Viewer, "/")
	b.wants("1,203")
	evaluate[bool](b, "window.stays = true")
	// A part that one has opened stays open, and times stay in the zone that was chosen.
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"})
	b.visit("/")
	evaluate[bool](b, "window.stays = true")
	b.press("Times in UTC")
	b.wants("Times in Asia/Tokyo", "2026-11-20 22:30:00 GMT+9")
	b.press("The same as a table")
	s.underWay(4711)
	b.wants("4,711")
	if !evaluate[bool](b, "window.stays === true && document.querySelector('#around-table').open && document.body.innerText.includes('2026-11-20 22:30:00 GMT+9')") {
		t.Error("the page was loaded anew, or does not look as it did")
	}

	// Who pauses it is shown nothing new, while others are.
	other := s.tab(c, ops.Viewer, "/?as=other")
	others := func(done int, shown string) {
		s.underWay(done)
		other.wants(shown)
	}
	b.press("Pause")
	b.wants("Paused")
	asked := s.refreshed("/")
	others(5000, "5,000")
	others(5001, "5,001")
	if got := s.refreshed("/"); got != asked || evaluate[bool](b, "document.body.innerText.includes('5,00')") {
		t.Errorf("a page that is paused asked %d times", got-asked)
	}
	b.press("Paused")
	b.wants("5,001")

	// A tab that nobody sees asks for nothing, and looks at once when it is seen again.
	hide := func(is string) {
		evaluate[bool](b, `(() => { Object.defineProperty(document, "hidden", {configurable: true, get: () => `+is+`}); return document.dispatchEvent(new Event("visibilitychange")); })()`)
	}
	hide("true")
	asked = s.refreshed("/")
	others(6000, "6,000")
	others(6001, "6,001")
	if got := s.refreshed("/"); got != asked {
		t.Errorf("a hidden tab asked %d times", got-asked)
	}
	hide("false")
	b.wants("6,001")
	other.quiet("another's")
	b.visit("/find") // which has nothing to refresh
	b.until("document.querySelector('#zone').offsetWidth > 0 && document.querySelector('#pause').offsetWidth === 0")
	b.quiet("live")
}

// Who signs in by another tab, or is signed out, is told so by the page that is open.
func TestAPageWhoseSessionIsOverSaysSo(t *testing.T) {
	c := start(t)
	s := onOneServer(t, now)
	s.underWay(1)
	b := s.tab(c, ops.Viewer, "/")
	b.wants("Slots around now")
	other := b.beside(c)
	other.visit("/slots")
	other.press("Log out")
	other.until("document.querySelector('#password')")
	b.wants("You are not logged in any more: load the page again.")
	b.heard("401")
	other.quiet("signed out")
}

func TestADatabaseThatGoesAwayIsSaidUntilItIsBack(t *testing.T) {
	c := start(t)
	t.Parallel()
	server := servertest.Kinds(t)[0].Private(t)
	s := serve(t, servertest.On(t, server), now)
	_, err := s.Client.InsertMany(t.Context(), s.AppAt(rig.At("08:30")), []prescient.NewJob{{Entity: rig.Order("42"), JobExec: "order-unshipped", DueAt: rig.At("11:00")}})
	s.Must(err)
	looks := s.tab(c, ops.Viewer, "/") // a check is overdue: it is worth looking every few seconds
	loads := s.tab(c, ops.Operator, "/slots")
	looks.wants("1 check is overdue")
	server.Kill()
	looks.wants("The page could not be refreshed: what it shows is old.", "1 check is overdue")
	loads.visit("/pending")
	loads.wants("The database is away", "Since 2026-11-20 13:4", "looks again by itself")
	s.Must(server.Restart(t.Context()))
	loads.wants("order/42")
	s.Eventually("what could not be refreshed is", func() bool {
		return evaluate[bool](looks, "document.querySelector('#told').innerText === ''")
	})
	looks.heard("503")
	loads.heard("503")
}
