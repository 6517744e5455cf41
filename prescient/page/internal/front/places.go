package front

import (
	"context"
	"errors"
	"sync"
	"time"
)

// places are for looks and deeds that are under way at a time. One user has half of them at most: others are let through, whatever that one asks for.
type places struct {
	all  chan struct{}
	each int

	mu sync.Mutex
	of map[string]*ofUser
}

// ofUser are the places of a user, while somebody has or wants one.
type ofUser struct {
	places chan struct{}
	wanted int
}

func newPlaces(most int) *places {
	return &places{all: make(chan struct{}, most), each: max(1, most/2), of: make(map[string]*ofUser)}
}

var errBusy = errors.New("busy")

// placeWithin is how long a look or a deed waits for its turn.
const placeWithin = 2 * time.Second

// take waits for a place for a user, until leave is called.
func (p *places) take(ctx context.Context, user string) (leave func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, placeWithin, errBusy)
	defer cancel()
	u := p.want(user)
	if err := enter(ctx, u.places); err != nil {
		p.drop(user)
		return nil, err
	}
	if err := enter(ctx, p.all); err != nil {
		<-u.places
		p.drop(user)
		return nil, err
	}
	return func() {
		<-p.all
		<-u.places
		p.drop(user)
	}, nil
}

func enter(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *places) want(user string) *ofUser {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.of[user]
	if u == nil {
		u = &ofUser{places: make(chan struct{}, p.each)}
		p.of[user] = u
	}
	u.wanted++
	return u
}

func (p *places) drop(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u := p.of[user]; u != nil {
		if u.wanted--; u.wanted == 0 {
			delete(p.of, user)
		}
	}
}
