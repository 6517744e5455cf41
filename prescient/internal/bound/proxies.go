package bound

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are believed when they say where a request came from; nobody else is.
type Proxies []netip.Prefix

// Address is where a request came from: its sender, or, where that is a proxy, whom the proxies say it came from. Of the list that they leave the last that
// is none of them counts, as what stands before may be anybody's invention. All doors count, note and log this one.
func (p Proxies) Address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	sender := at.Addr().Unmap()
	if !p.Has(sender) {
		return sender.String()
	}
	list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, one := range slices.Backward(list) {
		addr, err := netip.ParseAddr(strings.TrimSpace(one))
		if err != nil {
			break
		}
		if sender = addr.Unmap().WithZone(""); !p.Has(sender) {
			break
		}
	}
	return sender.String()
}

// Has says whether an address is that of a proxy.
func (p Proxies) Has(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(one netip.Prefix) bool { return one.Contains(addr) })
}
