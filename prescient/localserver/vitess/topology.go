package vitess

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// cell is the only one of a cluster, and topologyRoot where the topology of all cells begins.
const (
	cell         = "zone"
	topologyRoot = "/vitess/global"
)

// startTopology starts the etcd that the topology is kept in. It need not be durable: it goes with the cluster.
func (c *Cluster) startTopology(ctx context.Context) error {
	_, ports, err := c.serve(ctx, program{name: "etcd", ports: 2,
		args: func(ports []int) []string {
			clients, peers := "http://"+at(ports[0]), "http://"+at(ports[1])
			return []string{"--name=topology", "--data-dir=" + filepath.Join(c.folder.Path, "etcd-"+at(ports[1])), "--unsafe-no-fsync", "--log-level=warn",
				"--listen-client-urls=" + clients, "--advertise-client-urls=" + clients,
				"--listen-peer-urls=" + peers, "--initial-advertise-peer-urls=" + peers, "--initial-cluster=topology=" + peers}
		},
		answer: func(ctx context.Context, ports []int) error { return says(ctx, ports[0], "/health") },
	})
	if err != nil {
		return err
	}
	c.topology = at(ports[0])
	return c.Control(ctx, "AddCellInfo", "--root=/vitess/"+cell, "--server-address="+c.topology, cell)
}

// topologyArgs tell a program where the topology is.
func (c *Cluster) topologyArgs() []string {
	return []string{"--topo-implementation=etcd2", "--topo-global-server-address=" + c.topology, "--topo-global-root=" + topologyRoot}
}

// Controller is the vtctldclient of the cluster: the program, and the arguments before its command.
func (c *Cluster) Controller() (program string, args []string) {
	return c.programs["vtctldclient"], append([]string{"--server=internal", "--action-timeout=60s"}, c.topologyArgs()...)
}

// Control runs a command of vtctldclient: ApplyVSchema, Reshard and what else it has.
func (c *Cluster) Control(ctx context.Context, command ...string) error {
	_, args := c.Controller()
	run, err := c.start("vtctldclient", "vtctldclient-"+command[0], append(args, command...))
	if err != nil {
		return fmt.Errorf("vitess: %w", err)
	}
	select {
	case <-run.Exited():
	case <-ctx.Done():
		run.Kill()
		return fmt.Errorf("vitess: vtctldclient %s: %w%s", strings.Join(command, " "), ctx.Err(), run.LogTail())
	}
	if run.Err() != nil {
		return fmt.Errorf("vitess: vtctldclient %s: %w%s", strings.Join(command, " "), run.Err(), run.LogTail())
	}
	return nil
}
