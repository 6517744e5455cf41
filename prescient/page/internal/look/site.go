package look

import (
	"cmp"
	"fmt"
	"html/template"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"prescient/prescient"
)

// Options are for New. Zero values are the defaults.
type Options struct {
	// BaseURL is where browsers find the pages, its path included, as in https://ops.example.org/prescient. It is the only source of absolute
	// URLs. Empty for the root of whatever host they are asked for at; there are no absolute URLs then.
	BaseURL string
	// Place names the installation, on every page; Colour is that of its bar: one of Colours.
	Place, Colour string
	// Nav are the views that each page links to.
	Nav []Link
	// Account is the path below the base of what a user may do with the own account, Logout of where one is logged out by a POST; empty for none.
	Account, Logout string
	// Proxies are the addresses of proxies that are believed when they say where a request came from.
	Proxies []netip.Prefix
}

// Link is a view that each page links to.
type Link struct {
	// Path below the base, as in /slots.
	Path, Title string
	// Roles are those who are shown it; all where it is empty.
	Roles []string
}

// Colours are those that the bar of an installation may have: each has its place in the stylesheet, with enough contrast in light and dark.
var Colours = []string{"blue", "green", "grey", "orange", "red", "teal", "violet"}

// Site is how pages look at one base URL. It is for concurrent use.
type Site struct {
	options Options
	origin  string // of the base URL, as in https://ops.example.org; empty for none
	prefix  string // of paths: empty, or as in /prescient
	assets  assets
	layout  *template.Template
}

// New makes a site. The error wraps prescient.ErrInvalid.
func New(o Options) (*Site, error) {
	s := &Site{options: o}
	if err := s.readBase(o.BaseURL); err != nil {
		return nil, err
	}
	s.options.Colour = cmp.Or(o.Colour, "grey")
	if !slices.Contains(Colours, s.options.Colour) {
		return nil, fmt.Errorf("%w: colour %.40q: %s are allowed", prescient.ErrInvalid, o.Colour, strings.Join(Colours, ", "))
	}
	if err := prescient.ValidText("name of the place", o.Place, 64); err != nil {
		return nil, err
	}
	var err error
	if s.assets, err = readAssets(); err != nil {
		return nil, err
	}
	s.layout, err = template.New("look").Funcs(funcs(s.Path, s.Asset)).ParseFS(templates, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the layout: %w", err)
	}
	return s, nil
}

func (s *Site) readBase(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%w: base URL %.200q: want one as in https://ops.example.org/prescient, without user, query and fragment", prescient.ErrInvalid, base)
	}
	s.prefix = strings.TrimRight(u.EscapedPath(), "/")
	if s.prefix != "" && !cleanPath(s.prefix) {
		return fmt.Errorf("%w: base URL %.200q: its path may have letters, digits and - . _ ~ between single slashes", prescient.ErrInvalid, base)
	}
	s.origin = u.Scheme + "://" + originHost(u)
	return nil
}

// originHost is the host of a URL as browsers write it in an origin.
func originHost(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if usual := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(host, usual) && u.Port() != "" {
		host = strings.TrimSuffix(host, usual)
	}
	return host
}

// cleanPath says that a path reads the same whoever cleans, escapes or unescapes it.
func cleanPath(p string) bool {
	for _, part := range strings.Split(p, "/")[1:] {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
		}) {
			return false
		}
	}
	return true
}

// Prefix is that of the base URL's path, which a request may bring or not: empty, or as in /prescient.
func (s *Site) Prefix() string { return s.prefix }

// Path is a path below the base for a link or a redirect, with the values of a query that are not empty: names and values in turn.
func (s *Site) Path(path string, query ...string) string {
	values := make(url.Values)
	for i := 0; i+1 < len(query); i += 2 {
		if query[i+1] != "" {
			values.Add(query[i], query[i+1])
		}
	}
	if len(values) == 0 {
		return s.prefix + path
	}
	return s.prefix + path + "?" + values.Encode()
}

// Asset is the path of an asset, for a link: style.css, page.js, icon.svg.
func (s *Site) Asset(name string) (string, error) {
	p, err := s.assets.path(name)
	return s.prefix + p, err
}

// URL is Path with the origin of the base URL before it; only a path where there is no base URL.
func (s *Site) URL(path string, query ...string) string { return s.origin + s.Path(path, query...) }

// Secure says that browsers come by https, so that cookies may be bound to it.
func (s *Site) Secure() bool { return strings.HasPrefix(s.origin, "https:") }

// Local returns the target where a redirect to it stays below the base, and else the base's first page: what a request says of where to go next may
// come from anybody.
func (s *Site) Local(target string) string {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") || strings.ContainsAny(target, "\\\x00\r\n\t") ||
		strings.HasPrefix(target, "//") || !strings.HasPrefix(u.Path, s.prefix+"/") || u.Path != clean(u.Path) {
		return s.Path("/")
	}
	return target
}

// clean is a path as it reads to whoever cleans it.
func clean(p string) string {
	cleaned := path.Clean(p)
	if strings.HasSuffix(p, "/") && cleaned != "/" {
		cleaned += "/"
	}
	return cleaned
}
