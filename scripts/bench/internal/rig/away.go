package rig

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient/connect"
)

// Away is a contestant with a round trip between it and the server.
func Away(c Contestant, trip time.Duration) Contestant {
	do := c.Do
	c.Name = fmt.Sprintf("%s, %v away", c.Name, trip)
	c.Do = func(ctx context.Context, st *Stage) error {
		away, leave, err := st.away(trip)
		if err != nil {
			return err
		}
		return errors.Join(do(ctx, away), leave())
	}
	return c
}

// away is a stage as somebody sees it who reaches its server by a proxy.
func (st *Stage) away(trip time.Duration) (*Stage, func() error, error) {
	proxy, err := StartProxy(st.Config.Addr, trip/2)
	if err != nil {
		return nil, nil, err
	}
	server := *st.Server
	server.Config = st.Config.Clone()
	server.Config.Net, server.Config.Addr = "tcp", proxy.Address()
	db, err := connect.Open(server.DSN(st.Name), 0)
	if err != nil {
		return nil, nil, errors.Join(err, proxy.Close())
	}
	away := *st
	away.Place = &Place{Server: &server, Name: st.Name, App: st.App, DB: db, Client: st.Client}
	return &away, func() error { return errors.Join(db.Close(), proxy.Close()) }, nil
}
