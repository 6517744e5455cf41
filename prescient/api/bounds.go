package api

import (
	"net/netip"
	"sync"

	"prescient/prescient/internal/bound"
	"prescient/prescient/ops"
)

// who tells callers apart: those who proved themselves by no token by their names, and by nothing by where they are.
type who struct {
	token uint64
	name  string
	site  netip.Prefix
}

func whoIs(by ops.Caller) who {
	is := who{token: by.Token, name: by.Name}
	if by.Anyone {
		is.site = bound.Site(by.Host)
	}
	return is
}

// places are for what is done at a time, each of which one caller may have some.
type places struct {
	most, each int
	mu         sync.Mutex
	all        int
	of         map[who]int
}

func newPlaces(most, each int) *places {
	return &places{most: most, each: each, of: make(map[who]int)}
}

// take has a place for a caller, until leave is called. It is nil where there is none; own says that the caller itself has as many as it may.
func (p *places) take(by ops.Caller) (leave func(), own bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	is := whoIs(by)
	switch {
	case p.of[is] >= p.each:
		return nil, true
	case p.all >= p.most:
		return nil, false
	}
	p.all++
	p.of[is]++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all--
		if p.of[is]--; p.of[is] == 0 {
			delete(p.of, is)
		}
	}), false
}
