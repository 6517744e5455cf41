package door

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
)

// OnlyFor takes requests for this machine, by the names that it has for itself, or for the address; of one that is local no others. A page of another site may have its name
// lead to this machine, and a browser then sends here what the page asks for; but under that name. Where others reach the address, they may do so by any
// number of it.
func OnlyFor(address string, local bool, next http.Handler) http.Handler {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, _, err := net.SplitHostPort(address); err == nil && host != "" {
		names = append(names, strings.ToLower(host))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostOf(r.Host); !slices.Contains(names, host) && (local || net.ParseIP(host) == nil) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusMisdirectedRequest)
			// A reader that is gone is told nothing.
			_, _ = io.WriteString(w, `{"type":"about:blank","title":"Misdirected request","status":421,"detail":"requests without a token are taken for localhost only"}`+"\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf is the name or the address of a Host header, without its port.
func hostOf(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(header, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
