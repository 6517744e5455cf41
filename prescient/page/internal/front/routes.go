package front

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/bound"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/look"
)

// Group are views and deeds whose templates stand together.
type Group struct {
	Views     []View
	Deeds     []Deed
	Downloads []Download
	Templates fs.FS // templates/*.html
}

//go:embed templates/*.html
var templates embed.FS

// usualConcurrent is how many looks and deeds are under way at a time.
const usualConcurrent = 16

// usualRate is how many requests a second a user may send.
const usualRate = 20

// New makes the handler of these views and deeds. The error wraps prescient.ErrInvalid.
func New(o *ops.Ops, options Options, groups ...Group) (http.Handler, error) {
	if options.Who == nil {
		return nil, fmt.Errorf("%w: nobody says who looks at the page: Who is missing", prescient.ErrInvalid)
	}
	if options.Concurrent <= 0 {
		options.Concurrent = usualConcurrent
	}
	if options.Rate <= 0 {
		options.Rate = usualRate
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	site, err := look.New(look.Options{BaseURL: options.BaseURL, Place: options.Place, Colour: options.Colour, Proxies: options.Proxies, Nav: navOf(groups), Account: options.Account, Logout: options.Logout})
	if err != nil {
		return nil, err
	}
	f := &Front{Site: site, ops: o, o: options, mux: http.NewServeMux(), shared: newShared(options.Now, func(b built) int { return len(b.body) }), places: newPlaces(options.Concurrent), rates: bound.NewRates[sender](options.Rate),
		downloads: newPlaces(downloadsAtATime), away: &away{now: options.Now}, says: make(map[string]func(int) string)}
	if f.common, err = site.Parse(templates, "templates/*.html"); err != nil {
		return nil, err
	}
	for _, g := range groups {
		if err := f.add(g); err != nil {
			return nil, err
		}
	}
	if f.has(site.Prefix()) {
		return nil, fmt.Errorf("%w: base URL %.200q: the page has a view of that path", prescient.ErrInvalid, options.BaseURL)
	}
	f.mux.Handle("/", f.known(func(_ http.ResponseWriter, r *http.Request, _ User) error {
		return fmt.Errorf("%w: nothing is at %.200q", errNoView, r.URL.Path)
	}))
	return site.Handler(f.mux)
}

func navOf(groups []Group) (nav []look.Link) {
	for _, g := range groups {
		for _, v := range g.Views {
			if v.Nav == "" {
				continue
			}
			link := look.Link{Path: v.Path, Title: v.Nav}
			for _, role := range ops.Roles {
				if role.May(v.Role) {
					link.Roles = append(link.Roles, string(role))
				}
			}
			nav = append(nav, link)
		}
	}
	return nav
}

func (f *Front) add(g Group) error {
	t, err := f.Parse(g.Templates, "templates/*.html")
	if err != nil {
		return err
	}
	for _, v := range g.Views {
		if t.Lookup(v.Template) == nil {
			return fmt.Errorf("there is no template %q", v.Template)
		}
		path := v.Path
		if path == "/" {
			path = "/{$}"
		}
		f.mux.Handle("GET "+path, f.known(f.see(v, t)))
	}
	for _, d := range g.Deeds {
		if t.Lookup(d.Template) == nil {
			return fmt.Errorf("there is no template %q", d.Template)
		}
		if d.Told != "" && t.Lookup(d.Told) == nil {
			return fmt.Errorf("there is no template %q", d.Told)
		}
		f.mux.Handle("GET "+d.Path, f.known(f.confirm(d, t)))
		f.mux.Handle("POST "+d.Path, f.known(f.do(d, t)))
		f.says[d.Path] = d.Said
	}
	for _, d := range g.Downloads {
		f.mux.Handle("GET "+d.Path, f.known(f.download(d)))
	}
	return nil
}

// has says whether there is a view of a path.
func (f *Front) has(path string) bool {
	if path == "" {
		return false
	}
	_, pattern := f.mux.Handler(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}})
	return pattern != ""
}
