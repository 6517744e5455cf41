package api

import (
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// New returns the handler. It serves [Base] and what is below, also where it is mounted under a prefix that was stripped.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	a := newServer(mux, o)
	description := describe(a.api.OpenAPI())
	mux.HandleFunc("GET "+Base+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(description) // a reader that is gone is told nothing
	})
	return guard(o, known(mux))
}

// Description is the description of the API in OpenAPI 3.1, as JSON.
func Description() []byte {
	return describe(newServer(http.NewServeMux(), Options{}).api.OpenAPI())
}

func newServer(mux *http.ServeMux, o Options) *server {
	a := &server{o: o, exports: newPlaces(exportsAtATime, exportsEach), api: humago.New(mux, config(o.Version))}
	a.checks()
	a.bulk()
	a.tokens()
	a.users()
	a.switches()
	a.definitions()
	a.rules()
	a.answers()
	return a
}

// known answers a problem where there is nothing of a path, or nothing by that method.
func known(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" && r.Method != http.MethodHead { // which would do all the work for no reader
			mux.ServeHTTP(w, r)
			return
		}
		p := problem{Status: http.StatusNotFound, Type: blank, Title: "Not found", Detail: fmt.Sprintf("there is no %.200q; %s/openapi.json has what there is", r.URL.Path, Base)}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "" {
				w.Header().Set("Allow", method)
				p.Status, p.Title, p.Detail = http.StatusMethodNotAllowed, "Method not allowed", fmt.Sprintf("%.200q is for %s", r.URL.Path, method)
			}
		}
		write(w, p)
	})
}
