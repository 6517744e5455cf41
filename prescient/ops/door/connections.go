package door

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/internal/bound"
)

// Connections bounds how many connections of a listener are open: in all, and of a site, which has a quarter of them at most. At the bound a newcomer has
// the place of another, of the site that has the most: one that has nothing under way, else the one whose request is the oldest. A listener that waits
// instead, as that of golang.org/x/net/netutil, is shut for all by one who holds what it lets in. Proxies are no site: they bring everybody.
type Connections struct {
	net.Listener
	most, each int
	proxies    bound.Proxies
	counts     *Counts
	log        zerolog.Logger

	mu     sync.Mutex
	all    map[*counted]bool
	of     map[netip.Prefix]map[*counted]bool
	warned time.Time
}

// warnEvery is how often the log is told that connections are closed for others.
const warnEvery = time.Minute

// NewConnections bounds those of a listener to so many, four at least. Changed is to be the ConnState of the server. counts may be nil.
func NewConnections(listener net.Listener, most int, proxies []netip.Prefix, counts *Counts, log zerolog.Logger) *Connections {
	return &Connections{Listener: listener, most: max(most, 4), each: max(most, 4) / 4, proxies: proxies, counts: counts, log: log,
		all: make(map[*counted]bool), of: make(map[netip.Prefix]map[*counted]bool)}
}

// counted is an open connection.
type counted struct {
	net.Conn
	within *Connections
	site   netip.Prefix
	proxy  bool
	busy   bool      // a request is under way, as far as is known
	since  time.Time // when that began or ended
}

// Accept waits for the next connection, for which there is a place.
func (c *Connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		next, last := c.enter(conn, time.Now())
		if last != nil {
			_ = last.Close() // it has been given up
		}
		if next != nil {
			return next, nil
		}
		_ = conn.Close() // it was not let in
	}
}

// enter counts a connection; next is nil where there is no place for it. last is the one that has to go for it.
func (c *Connections) enter(conn net.Conn, now time.Time) (next, last *counted) {
	next = &counted{Conn: conn, within: c, since: now}
	if at, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		next.proxy, next.site = c.proxies.Has(at.Addr()), bound.Site(at.Addr().String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !next.proxy && len(c.of[next.site]) >= c.each:
		last = first(c.of[next.site])
	case len(c.all) >= c.most:
		if last = c.ofTheMost(); last == nil {
			c.warn(next, now)
			return nil, nil
		}
	}
	if last != nil {
		c.warn(last, now)
		c.leave(last)
	}
	c.all[next] = true
	if !next.proxy {
		if c.of[next.site] == nil {
			c.of[next.site] = make(map[*counted]bool)
		}
		c.of[next.site][next] = true
	}
	return next, last
}

// ofTheMost is what goes for a newcomer: of the site that has the most; where none has two, of all, unless each has something under way.
func (c *Connections) ofTheMost() *counted {
	var most map[*counted]bool
	for _, some := range c.of {
		if len(some) > max(1, len(most)) {
			most = some
		}
	}
	if most != nil {
		return first(most)
	}
	if one := first(c.all); one != nil && !one.busy {
		return one
	}
	return nil
}

// first is the one that has had nothing under way for the longest, else the one that has had something for the longest; nil of none.
func first(some map[*counted]bool) (is *counted) {
	for one := range some {
		if is == nil || is.busy && !one.busy || is.busy == one.busy && one.since.Before(is.since) {
			is = one
		}
	}
	return is
}

// warn tells of one that was closed, and counts it; it has the lock.
func (c *Connections) warn(of *counted, now time.Time) {
	c.counts.Closed()
	if now.Sub(c.warned) < warnEvery {
		return
	}
	c.warned = now
	c.log.Warn().Stringer("from", of.RemoteAddr()).Int("open", len(c.all)).Msg("as many connections are open as may be, in all or from one site: some are closed for others")
}

// leave frees the place of one; it has the lock. Once more it does nothing.
func (c *Connections) leave(is *counted) {
	delete(c.all, is)
	delete(c.of[is.site], is)
	if len(c.of[is.site]) == 0 {
		delete(c.of, is.site)
	}
}

// Close closes the connection, whose place is free then.
func (is *counted) Close() error {
	is.within.mu.Lock()
	is.within.leave(is)
	is.within.mu.Unlock()
	return is.Conn.Close()
}

// Changed is for the ConnState of the server.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) {
	if secured, is := conn.(*tls.Conn); is {
		conn = secured.NetConn()
	}
	if is, mine := conn.(*counted); mine {
		c.mu.Lock()
		defer c.mu.Unlock()
		is.busy, is.since = state == http.StateActive, time.Now()
	}
}
