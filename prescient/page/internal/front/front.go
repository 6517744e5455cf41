package front

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/look"
)

// ErrNobody is returned by Who where a request does not say who sent it.
var ErrNobody = errors.New("nobody is logged in")

// User is who looks at a page.
type User struct {
	// Name is that of a person, for the page and the audit.
	Name string
	Role ops.Role
}

// Options are for New.
type Options struct {
	// BaseURL, Place, Colour and Proxies are those of look.Options.
	BaseURL, Place, Colour string
	Proxies                []netip.Prefix
	// Who says who sent a request; the error wraps ErrNobody for nobody.
	Who func(*http.Request) (User, error)
	// Login is the path below the base where one logs in, Account that of the own account, Logout of where one is logged out by a POST; empty for none.
	Login, Account, Logout string
	// Concurrent is how many looks and deeds are under way at a time; 16 by default.
	Concurrent int
	// Log gets what failed; nothing by default.
	Log zerolog.Logger
	// Now is the clock of this process, time.Now by default.
	Now func() time.Time
}

const (
	usualConcurrent = 16
	// answerWithin is how long all of an answer may take.
	answerWithin = 2 * time.Minute
)

// Front serves views and deeds.
type Front struct {
	*look.Site
	ops    *ops.Ops
	o      Options
	mux    *http.ServeMux
	shared *shared[built]
	places *places
	// downloads are places for those.
	downloads chan struct{}
	away      *away
	common    *template.Template
	says      map[string]func(count int) string
}

//go:embed templates/*.html
var templates embed.FS

// New makes the handler of these views and deeds. The error wraps prescient.ErrInvalid.
func New(o *ops.Ops, options Options, groups ...Group) (http.Handler, error) {
	if options.Who == nil {
		return nil, fmt.Errorf("%w: nobody says who looks at the page: Who is missing", prescient.ErrInvalid)
	}
	if options.Concurrent <= 0 {
		options.Concurrent = usualConcurrent
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	site, err := look.New(look.Options{BaseURL: options.BaseURL, Place: options.Place, Colour: options.Colour, Proxies: options.Proxies, Nav: navOf(groups), Account: options.Account, Logout: options.Logout})
	if err != nil {
		return nil, err
	}
	f := &Front{Site: site, ops: o, o: options, mux: http.NewServeMux(), shared: newShared(options.Now, func(b built) int { return len(b.body) }), places: newPlaces(options.Concurrent),
		downloads: make(chan struct{}, downloadsAtATime), away: &away{now: options.Now}, says: make(map[string]func(int) string)}
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
