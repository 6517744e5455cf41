package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is one of a browser, with cookies of its own unless it is opened beside another.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // of the page, without a slash at its end

	mu    sync.Mutex
	wrong []string // what the console got: errors, exceptions, and what the policy forbids
}

// tab opens one, as somebody who has no session.
func (c *chromium) tab(base string) *tab {
	return c.open(base, c.ctx, chromedp.WithNewBrowserContext())
}

// beside opens another tab of the same person in the same window, so that this one is hidden.
func (b *tab) beside(c *chromium) *tab {
	return c.open(b.base, b.ctx, chromedp.WithNewWindow(false))
}

func (c *chromium) open(base string, parent context.Context, options ...chromedp.ContextOption) *tab {
	c.t.Helper()
	b := &tab{t: c.t, base: base}
	ctx, cancel := chromedp.NewContext(parent, append(options, chromedp.WithListener(b.hears))...)
	b.ctx = ctx
	c.t.Cleanup(cancel)
	do(b, chromedp.Navigate("about:blank"))
	return b
}

// hears takes what the page says to the console.
func (b *tab) hears(event any) {
	said := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			said = fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		said = string(text)
	case *runtime.EventConsoleAPICalled:
		text, _ := json.Marshal(e.Args)
		said = fmt.Sprintf("console.%s %s", e.Type, text)
	}
	if said != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.wrong = append(b.wrong, said)
	}
}

// quiet fails where the console got something since it was asked last.
func (b *tab) quiet(what string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, said := range b.wrong {
		b.t.Errorf("%s: the console has: %s", what, said)
	}
	b.wrong = nil
}

// heard forgets what the console got, which is to have these texts.
func (b *tab) heard(texts ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	all := strings.Join(b.wrong, "\n")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			b.t.Errorf("%q is missing in what the console has: %s", text, all)
		}
	}
	b.wrong = nil
}

// do does something in a tab, within half a minute.
func do[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	got, err := try(b, action)
	if err != nil {
		var text string
		text, _ = try(b, chromedp.Evaluate[string]("document.location.href + '\\n' + document.body.innerText"))
		b.t.Fatalf("%v; the page is %.2000s", err, text)
	}
	return got
}

func try[T any](b *tab, action chromedp.Action[T]) (T, error) {
	if chromedp.FromContext(b.ctx).Target == nil { // the first action of a tab may not have a time of its own, as the tab would have
		return chromedp.Run(b.ctx, action)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// call sends a command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	return do(b, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// evaluate is what an expression comes to on the page.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	return do(b, chromedp.Evaluate[T](expression))
}

// evaluateAwaited is what a promise comes to on the page.
func evaluateAwaited[T any](b *tab, expression string) T {
	b.t.Helper()
	return do(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// scriptless has the browser run no scripts of pages.
func (b *tab) scriptless() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// visit opens a path below the base.
func (b *tab) visit(path string) {
	b.t.Helper()
	do(b, chromedp.Navigate(b.base+path))
}

// until waits until an expression is true, on this page or on the one that comes.
func (b *tab) until(expression string) {
	b.t.Helper()
	for began := time.Now(); ; {
		is, err := try(b, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && is {
			return
		}
		if time.Since(began) > 20*time.Second {
			text, _ := try(b, chromedp.Evaluate[string]("document.location.href + '\\n' + document.body.innerText"))
			b.t.Fatalf("never came about: %s; %v; the page is %.3000s", expression, err, text)
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// wants waits until the page has these texts.
func (b *tab) wants(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		b.until(fmt.Sprintf("document.readyState === 'complete' && document.body.innerText.includes(%q)", text))
	}
}

// lacks fails where the page has one of these texts.
func (b *tab) lacks(texts ...string) {
	b.t.Helper()
	has := evaluate[string](b, "document.body.innerText")
	for _, text := range texts {
		if strings.Contains(has, text) {
			b.t.Errorf("%q is in %s", text, has)
		}
	}
}

// named finds what is pressed by the text that people see, on the page itself before what each page has.
func named(text string) chromedp.JSPath {
	return chromedp.JSPath(fmt.Sprintf(`["main a, main button, summary", "header button, header a, nav a"].flatMap((all) => [...document.querySelectorAll(all)]).find((one) => one.innerText.trim() === %q)`, text))
}

// press clicks a link or a button, as it comes to be on the page.
func (b *tab) press(text string) {
	b.t.Helper()
	b.until(string(named(text)))
	do(b, chromedp.Click(named(text)))
}

// fill types a text into a field in the place of what it has.
func (b *tab) fill(field, text string) {
	b.t.Helper()
	if evaluate[string](b, "document.getElementById('"+field+"').value") != "" {
		do(b, chromedp.Clear(chromedp.CSS("#"+field)))
	}
	do(b, chromedp.SendKeys(chromedp.CSS("#"+field), text))
}

// choose sets a field that is no text: a list, a time.
func (b *tab) choose(field, value string) {
	b.t.Helper()
	do(b, chromedp.SetValue(chromedp.CSS("#"+field), value))
}

// tick ticks a box, or clears it.
func (b *tab) tick(box string) {
	b.t.Helper()
	do(b, chromedp.Click(chromedp.CSS(box)))
}

// signIn signs somebody in, who comes to the path then.
func (b *tab) signIn(name, path string) {
	b.t.Helper()
	b.visit(path)
	b.until("document.querySelector('#password')")
	b.fill("name", name)
	b.fill("password", password)
	b.press("Sign in")
	b.until(fmt.Sprintf("document.querySelector('.who') && document.querySelector('.who').innerText.includes(%q)", name))
}

// sized has the window so wide, and each pixel of the page so many pixels of the screen: 2 is how a zoom of 200 % looks to a page.
func (b *tab) sized(width, height int64, scale float64) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale})
}

// coloured has the person want light or dark pages.
func (b *tab) coloured(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// fits fails where the page is wider than the window, so that one would scroll to and fro to read a line.
func (b *tab) fits(what string) {
	b.t.Helper()
	wide := evaluate[[]string](b, `(() => {
		const page = document.scrollingElement;
		if (page.scrollWidth <= page.clientWidth) { return []; }
		const inside = (one) => { for (let up = one.parentElement; up; up = up.parentElement) { if (getComputedStyle(up).overflowX !== "visible") { return up !== document.body && up !== page; } } return false; };
		return ["the page is " + page.scrollWidth + " wide in " + page.clientWidth].concat([...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > page.clientWidth + 1 && !inside(one)).slice(0, 5)
			.map((one) => one.outerHTML.slice(0, 200)));
	})()`)
	if len(wide) > 0 {
		b.t.Errorf("%s: %s", what, strings.Join(wide, "\n\t"))
	}
}

// axe is what axe-core finds on the page. It runs in a world of its own, which the policy of the page is not for.
func (b *tab) axe(text string) []string {
	b.t.Helper()
	frame := call(b, page.GetFrameTree, cdp.Empty{}).FrameTree.Frame.ID
	world := call(b, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: frame, WorldName: "axe"}).ExecutionContextID
	in := func(expression string) []string {
		b.t.Helper()
		return do(b, chromedp.Evaluate[[]string](expression, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.ContextID = world }))
	}
	in("typeof axe === 'undefined' ? (() => {" + text + "\n; return []; })() : []")
	return in(`axe.run(document, {resultTypes: ["violations"]}).then((all) => all.violations.flatMap((rule) => rule.nodes.map((one) => rule.id + ": " + one.html.slice(0, 300) + "\n\t" + one.failureSummary)))`)
}

// picture is what the window shows.
func (b *tab) picture() []byte {
	b.t.Helper()
	return do(b, chromedp.CaptureScreenshot())
}

// key presses one as often as is said.
func (b *tab) key(key string) {
	b.t.Helper()
	do(b, chromedp.KeyEvent(key))
}
