package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"prescient/prescient/ops"
)

// where is what has the focus: its text or its name, and whether one sees that it has it.
func (b *tab) where() (text string, seen bool) {
	b.t.Helper()
	is := evaluate[[]string](b, `(() => { const one = document.activeElement; const is = getComputedStyle(one);
		return [(one.innerText || "").trim() || one.name || one.tagName, String(is.outlineStyle !== "none" && parseFloat(is.outlineWidth) >= 2)]; })()`)
	return is[0], is[1] == "true"
}

// tabTo goes on by the key Tab until something has the focus, and fails where one does not see where one is on the way.
func (b *tab) tabTo(want string) {
	b.t.Helper()
	for range 80 {
		b.key(kb.Tab)
		text, seen := b.where()
		if text != "BODY" && !seen { // which a browser takes up between the last and the first
			b.t.Errorf("one does not see that %q has the focus", text)
		}
		if text == want {
			return
		}
	}
	b.t.Fatalf("the key Tab does not lead to %q", want)
}

func TestTheKeyboardIsEnough(t *testing.T) {
	c := start(t)
	s := staged(t)
	b := c.tab(s.base)
	b.visit("/")
	b.until("document.activeElement && document.activeElement.name === 'name'")
	b.key(people[ops.Operator])
	b.tabTo("password")
	b.key(password)
	b.key(kb.Enter)
	b.wants("Slots around now")
	// The first thing on a page leads past what each page has.
	b.tabTo("Skip to the content")
	b.key(kb.Enter)
	b.until("document.activeElement && document.activeElement.id === 'main'")
	b.visit("/")
	b.tabTo("Find")
	b.key(kb.Enter)
	b.wants("An entity is what checks are about")
	b.tabTo("entity")
	b.key("order/25")
	b.key(kb.Enter)
	b.wants("What happens next")
	b.tabTo("Payload")
	b.key(kb.Enter)
	b.wants("customer/25")
	b.tabTo("Cancel")
	b.key(kb.Enter)
	b.wants("ends as cancelled")
	b.tabTo("_reason")
	b.key("by keyboard")
	b.tabTo("Cancel the check")
	b.key(kb.Enter)
	b.wants("1 check was cancelled.", "by keyboard")
	if n := s.Count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = '25' AND outcome = 'cancelled'"); n != 1 {
		t.Errorf("%d were cancelled", n)
	}
	b.quiet("the keyboard")
}
