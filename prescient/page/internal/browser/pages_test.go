package browser_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/prescient/ops"
)

// views are what there is to see, by the name of its picture.
var views = []struct{ name, path string }{
	{"now", "/"}, {"slots", "/slots"}, {"slot", "/slot?slot=2026-11-20T13:30:00Z"}, {"find", "/find"}, {"life", "/find?entity=order/62"}, {"pending", "/pending"}, {"ends", "/ends"},
	{"execs", "/execs"}, {"exec", "/exec?job_exec=order-unshipped"}, {"exec-failing", "/exec?job_exec=carrier-late"}, {"agents", "/agents"}, {"events", "/events"}, {"audit", "/audit"}, {"health", "/health"},
	{"blocking", "/blocking"}, {"schedules", "/schedules"}, {"schedule", "/schedule?id=digest/7"}, {"schedule-paused", "/schedule?id=stock-count"}, {"schedule-form", "/schedules/edit?id=digest/7"}, {"schedule-new", "/schedules/new"},
	{"schedule-back", "/schedules/back?id=digest/7&version=1"}, {"crontabs", "/schedules/preview?crontabs=0+3+*+*+*&zone=Europe/Berlin"}, {"jobs", "/jobs"}, {"job", "/job?name=nightly"},
	{"job-version", "/job/version?name=nightly&version=1"}, {"job-form", "/jobs/edit?name=nightly"}, {"job-new", "/jobs/new"}, {"job-back", "/jobs/back?name=nightly&version=1"}, {"run", "/job/run?run=nightly-1795147200"}, {"rules", "/rules"}, {"rule", "/rule?name=remind"}, {"rule-form", "/rules/edit?name=remind"}, {"rule-new", "/rules/new"}, {"rule-off", "/rules/pause?name=remind"}, {"rule-try", "/rules/try?occasion=order.placed&delay=4h"},
	{"bulk", "/bulk"}, {"bulk-new", "/bulk/new?job_exec=carrier-late"},
	{"cancel", "/checks/cancel?entity=order/25&job_exec=order-unshipped"}, {"reschedule", "/checks/reschedule?entity=order/25&job_exec=order-unshipped"}, {"drain", "/agents/drain?name=app-1:4021"},
	{"pause", "/execs/pause?job_exec=carrier-late"}, {"resend", "/events/resend?number=1001&number=1002"}, {"drop", "/events/drop?number=1001"}, {"password", "/password"},
}

// kept are the views whose pictures stand in the README, in the folder of pictures of the page's room.
var kept = []string{"now", "life", "schedule-form"}

const pictures = "../../screenshots"

// Every page is read on a phone and on a desk, in light and dark and at 200 %, by eyes and by axe-core. SCREENSHOTS=FOLDER keeps pictures of all of
// them, UPDATE=1 makes those of the README anew.
func TestEveryPageIsForEverybody(t *testing.T) {
	c := start(t)
	s := staged(t)
	axe := axeOf(t, folder(t))
	b := c.tab(s.base)
	look := func(name string) {
		t.Helper()
		b.until("document.readyState === 'complete' && document.querySelector('h1')")
		if at := evaluate[string](b, "document.querySelector('h1').innerText"); strings.Contains(at, "cannot") || strings.Contains(at, "no such") || strings.Contains(at, "Not allowed") {
			t.Errorf("%s: %s: %s", name, at, evaluate[string](b, "document.querySelector('main').innerText"))
		}
		if name == "schedule-form" { // what the script adds
			b.wants("The next occurrences")
		}
		b.sized(1200, 900, 2) // a window of 2400 at 200 %
		evaluate[[]bool](b, "[...document.querySelectorAll('details')].map((one) => { one.open = true; return true; })")
		finds := func(as string) {
			t.Helper()
			for _, found := range b.axe(axe) {
				t.Errorf("%s %s: axe finds %s", name, as, found)
			}
		}
		b.coloured("dark")
		finds("in the dark")
		b.coloured("light")
		finds("in the light")
		b.fits(name + " at 1200")
		b.sized(600, 450, 2) // a window of 1200 at 200 %
		b.fits(name + " at 200 %")
		b.sized(360, 740, 3)
		b.fits(name + " on a phone")
		finds("on a phone")
		b.quiet(name)
		s.keep(b, name)
	}
	b.visit("/")
	look("sign-in")
	b.signIn(people[ops.Admin], "/")
	for _, view := range views {
		b.visit(view.path)
		look(view.name)
	}
	b.visit("/schedules/edit?id=digest/7")
	b.fill("crontabs", "0 9 * * mon-fri")
	b.press("Look what changes")
	b.wants("The difference")
	look("schedule-review")
	b.visit("/bulk/new?job_exec=carrier-late")
	b.press("Look to what")
	b.wants("The first of them")
	look("bulk-review")

	// A page that is not so is found.
	evaluate[bool](b, `(() => { document.documentElement.removeAttribute("lang"); document.querySelector("h1").replaceWith(document.createElement("input")); return true; })()`)
	if found := strings.Join(b.axe(axe), "\n"); !strings.Contains(found, "html-has-lang: ") || !strings.Contains(found, "label: ") {
		t.Errorf("axe finds only %s", found)
	}
}

// keep keeps a picture of a page, where that is asked for.
func (s *site) keep(b *tab, name string) {
	s.T.Helper()
	if all := os.Getenv("SCREENSHOTS"); all != "" {
		s.Must(os.MkdirAll(all, 0o755))
		s.Must(os.WriteFile(filepath.Join(all, name+"-phone.png"), b.picture(), 0o644))
		b.coloured("dark")
		b.sized(1200, 900, 1)
		s.Must(os.WriteFile(filepath.Join(all, name+"-dark.png"), b.picture(), 0o644))
		b.coloured("light")
		s.Must(os.WriteFile(filepath.Join(all, name+".png"), b.picture(), 0o644))
	}
	for _, one := range kept {
		if one != name || os.Getenv("UPDATE") == "" {
			continue
		}
		b.coloured("light")
		b.sized(1000, 750, 1)
		evaluate[[]bool](b, "[...document.querySelectorAll('details')].map((one) => { one.open = false; return true; })")
		s.Must(os.MkdirAll(pictures, 0o755))
		s.Must(os.WriteFile(filepath.Join(pictures, name+".png"), s.small(b.picture()), 0o644))
	}
}

// small is a picture in 256 colours: there are few on a page, and many of each.
func (s *site) small(picture []byte) []byte {
	s.T.Helper()
	all, err := png.Decode(bytes.NewReader(picture))
	s.Must(err)
	counts := make(map[color.Color]int)
	for y := range all.Bounds().Dy() {
		for x := range all.Bounds().Dx() {
			counts[all.At(x, y)]++
		}
	}
	palette := make(color.Palette, 0, 256)
	for len(palette) < 256 && len(counts) > 0 {
		var most color.Color
		for one, n := range counts {
			if most == nil || n > counts[most] {
				most = one
			}
		}
		palette = append(palette, most)
		delete(counts, most)
	}
	few := image.NewPaletted(all.Bounds(), palette)
	draw.Draw(few, few.Bounds(), all, image.Point{}, draw.Src)
	var text bytes.Buffer
	s.Must((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&text, few))
	return text.Bytes()
}

func TestPicturesOfTheReadmeAreThereAndSmall(t *testing.T) {
	const most = 120 << 10
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kept {
		is, err := os.Stat(filepath.Join(pictures, name+".png"))
		if err != nil {
			t.Errorf("%v; UPDATE=1 makes it", err)
		} else if is.Size() > most {
			t.Errorf("%s has %d bytes; %d are allowed", is.Name(), is.Size(), most)
		}
		if !bytes.Contains(readme, []byte("(prescient/page/screenshots/"+name+".png)")) {
			t.Errorf("the README does not show %s", name)
		}
	}
}
