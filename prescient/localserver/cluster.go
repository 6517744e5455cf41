package localserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"prescient/prescient/localserver/internal/folder"
	"prescient/prescient/localserver/internal/port"
)

// An Engine is what joins servers to a cluster.
type Engine string

const (
	Galera           Engine = "galera"            // MariaDB; every node takes writes
	GroupReplication Engine = "group-replication" // MySQL; one node takes writes, the primary
)

// ClusterOptions say which cluster to start.
type ClusterOptions struct {
	Engine Engine
	// Nodes is how many. Default: 3.
	Nodes int
	// Server is how each is run; its Flavour is that of the engine.
	Server Options
}

// A Cluster is some private servers on the loopback device that replicate to each other. All have the same account. A
// node may be killed and restarted; it has joined the others again when Restart returns.
type Cluster struct {
	Nodes []*Server
}

// StartCluster starts a cluster and returns when all nodes are in step. ctx bounds the start only.
func StartCluster(ctx context.Context, options ClusterOptions) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	options.Nodes = cmp.Or(options.Nodes, 3)
	options.Server.Flavour = MariaDB
	if options.Engine == GroupReplication {
		options.Server.Flavour = MySQL
	}
	program, err := Find(ctx, options.Server)
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	password := rand.Text()
	for range options.Nodes {
		c.Nodes = append(c.Nodes, newServer(program, options.Server, password))
	}
	if err := c.start(ctx, options.Engine); err != nil {
		return nil, errors.Join(fmt.Errorf("localserver: starting %s: %w", options.Engine, err), c.Close())
	}
	return c, nil
}

// start makes the data of the first node and copies them: nodes that begin with the same data have none to transfer.
func (c *Cluster) start(ctx context.Context, engine Engine) error {
	first := c.Nodes[0]
	if err := first.prepare(ctx); err != nil {
		return err
	}
	if err := first.process.Stop(); err != nil {
		return err
	}
	for _, s := range c.Nodes[1:] {
		if err := s.makeFolder(); err != nil {
			return err
		}
		free, err := port.Free()
		if err != nil {
			return err
		}
		s.account.port = free
	}
	if err := c.makeMembers(engine); err != nil {
		return err
	}
	if engine == Galera {
		// Where a node stands in the history of its cluster is written in its tables, too.
		if err := first.serveLocked(ctx); err != nil {
			return err
		}
		if err := first.process.Stop(); err != nil {
			return err
		}
	}
	for _, s := range c.Nodes[1:] {
		if err := folder.CopyData(s.installation.folder.Data(), first.installation.folder.Data()); err != nil {
			return fmt.Errorf("copying the data: %w", err)
		}
	}
	// It has to be another server than the copies.
	if err := os.Remove(filepath.Join(first.installation.folder.Data(), "auto.cnf")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := first.serveLocked(ctx); err != nil {
		return err
	}
	return atOnce(c.Nodes[1:], func(s *Server) error { return s.serveLocked(ctx) })
}

// atOnce does something with several servers at the same time.
func atOnce(servers []*Server, do func(s *Server) error) error {
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { errs[i] = do(s) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (c *Cluster) makeMembers(engine Engine) error {
	ports := make([]int, len(c.Nodes)) // that the nodes talk to each other on
	for i := range ports {
		var err error
		if ports[i], err = port.Free(); err != nil {
			return err
		}
	}
	switch engine {
	case Galera:
		return makeGalera(c.Nodes, ports)
	case GroupReplication:
		makeGroup(c.Nodes, ports)
		return nil
	}
	return fmt.Errorf("no engine %q", engine)
}

func (s *Server) serveLocked(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.serve(ctx, "")
}

// DSN returns a data source name with all nodes in its address, "tcp(host1:port,host2:port)". The driver reads no such
// list; prescient does.
func (c *Cluster) DSN(database string) string {
	config := c.Nodes[0].account.config(database)
	var addresses []string
	for _, s := range c.Nodes {
		addresses = append(addresses, s.Addr())
	}
	config.Addr = strings.Join(addresses, ",")
	return config.FormatDSN()
}

// Primary returns the member of the group that takes writes, as the first of its members that answers sees it; nil where
// there is none. On Galera every node does, and it is the first that runs.
func (c *Cluster) Primary(ctx context.Context) *Server {
	for _, s := range c.Nodes {
		if s.Pid() == 0 {
			continue
		}
		if _, group := s.member.(*groupMember); !group {
			return s
		}
		db, err := s.account.open()
		if err != nil {
			continue
		}
		var port int
		err = db.QueryRowContext(ctx, "SELECT member_port FROM performance_schema.replication_group_members WHERE member_role = 'PRIMARY' AND member_state = 'ONLINE'").Scan(&port)
		_ = db.Close()
		for _, primary := range c.Nodes {
			if err == nil && primary.account.port == port {
				return primary
			}
		}
	}
	return nil
}

// Close stops all nodes and removes their folders.
func (c *Cluster) Close() error { return atOnce(c.Nodes, (*Server).Close) }
