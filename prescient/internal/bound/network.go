package bound

import (
	"net"
	"net/netip"
)

// Network is what an address, with or without a port, is counted by: of IPv6 the network that one is given, as that has 2^64 addresses. What is none, as of
// a socket without addresses, is counted as one.
func Network(address string) netip.Prefix { return cut(address, 64) }

// Site is what may be somebody's networks: those of a site of IPv6. Of IPv4 it is that of Network.
func Site(address string) netip.Prefix { return cut(address, 48) }

func cut(address string, most int) (p netip.Prefix) {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return p
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		most = addr.BitLen()
	}
	p, _ = addr.Prefix(most) // that many bits it has
	return p
}
