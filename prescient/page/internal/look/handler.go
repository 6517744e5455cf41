package look

import (
	"net/http"
	"strings"

	"prescient/prescient/internal/bound"
)

// policy is what a browser may load and do for a page: own stylesheet, script and pictures, forms to ourselves, and nothing that stands in the page
// itself. The script makes elements of a page's text by one policy of Trusted Types.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; " +
	"require-trusted-types-for 'script'; trusted-types prescient"

// Handler serves the assets and hands other requests to next, with the headers of pages: as requests below the base, whether they brought its prefix or
// a proxy took that off. Requests that change something are taken from our own pages alone.
func (s *Site) Handler(next http.Handler) (http.Handler, error) {
	cross := http.NewCrossOriginProtection()
	if s.origin != "" { // behind a proxy that puts a Host of its own
		if err := cross.AddTrustedOrigin(s.origin); err != nil {
			return nil, err
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Wrong(w, r, Trouble{Status: http.StatusForbidden, Title: "Sent from elsewhere", Text: "This request came from a page of another site, so it was not done.",
			Do: "Open the page here, and send it from there."})
	}))
	protected := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.secure(w)
		r = s.below(r)
		switch {
		case r.URL.Path != clean(r.URL.Path): // a mux would lead to the cleaned one, and out of the base
			s.Wrong(w, r, Trouble{Status: http.StatusNotFound, Title: "There is no such page", Text: "Nothing is at this address."})
		case !s.assets.serve(w, r):
			protected.ServeHTTP(w, r)
		}
	}), nil
}

func (s *Site) secure(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// Not no-referrer: by that a browser sends our own forms with the origin null, and where there is no TLS that is all that says where they come from.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Cache-Control", "no-store")
}

// below is the request with a path below the base.
func (s *Site) below(r *http.Request) *http.Request {
	rest, found := strings.CutPrefix(r.URL.Path, s.prefix)
	if s.prefix == "" || !found || rest != "" && rest[0] != '/' {
		return r
	}
	if rest == "" {
		rest = "/"
	}
	r2 := r.Clone(r.Context())
	r2.URL.Path, r2.URL.RawPath = rest, ""
	return r2
}

// Address is where a request came from, as our proxies say.
func (s *Site) Address(r *http.Request) string { return bound.Proxies(s.options.Proxies).Address(r) }
