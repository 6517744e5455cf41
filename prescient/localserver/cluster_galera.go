package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"prescient/prescient/localserver/internal/port"
)

// ErrNoGalera is returned when Galera's library is not there.
var ErrNoGalera = errors.New("libgalera_smm.so is not found; scripts/galera gets it")

// galeraNode is a node of a Galera cluster.
type galeraNode struct {
	server  installation
	listen  int // for clients
	id      int
	library string
	port    int   // of the group
	ist     int   // for what it missed while it was away
	all     []int // the group's ports
	alone   int   // how many more starts make the cluster, rather than join it
	started bool  // so that there is a position to go on from
}

func makeGalera(nodes []*Server, ports []int) error {
	library, err := galeraLibrary()
	if err != nil {
		return err
	}
	for i, s := range nodes {
		ist, err := port.Free()
		if err != nil {
			return err
		}
		// Galera looks for its transfer script on the PATH.
		options := &s.installation.options
		options.Env = append([]string{"PATH=" + s.Dir() + ":" + os.Getenv("PATH")}, options.Env...)
		node := &galeraNode{server: s.installation, listen: s.account.port, id: i + 1, library: library, port: ports[i], ist: ist, all: ports}
		if i == 0 {
			node.alone = 2
		}
		s.member = node
		if err := os.WriteFile(filepath.Join(s.Dir(), "wsrep_sst_nothing"), []byte(transferNothing), 0o700); err != nil {
			return fmt.Errorf("writing the transfer script: %w", err)
		}
	}
	return nil
}

// galeraLibrary looks for the library where packages put it and in the cache that scripts/galera fills.
func galeraLibrary() (string, error) {
	for _, root := range []string{filepath.Join(CacheDir(), "galera", "root"), "/"} {
		for _, dir := range []string{"usr/lib", "usr/lib/galera", "usr/lib64/galera-4", "usr/lib64/galera"} {
			if path := filepath.Join(root, dir, "libgalera_smm.so"); exists(path) {
				return path, nil
			}
		}
	}
	return "", ErrNoGalera
}

// transferNothing is how a node that comes back asks for what it missed. Galera only calls upon a script to copy a whole
// data folder, or to say that this is not needed since the missed write sets are still there: the one case that is
// provided for. The donor tells it by a file, which the nodes can do that share a machine.
const transferNothing = `#!/bin/sh
set -eu
bypass=no
while [ $# -gt 0 ]; do
	case $1 in
	--role) role=$2; shift ;;
	--address) address=$2; shift ;;
	--datadir) data=$2; shift ;;
	--gtid) gtid=$2; shift ;;
	--bypass) bypass=yes ;;
	esac
	shift
done
if [ "$role" = joiner ]; then
	file=${data%/}/transfer.$$
	rm -f "$file"
	echo "ready $file"
	until [ -s "$file" ]; do sleep 0.1; done
	cat "$file"
	rm -f "$file"
	exit
fi
[ "$bypass" = yes ] || { echo "no copies of whole data folders here" >&2; exit 22; }
echo "$gtid" >"$address.new"
mv "$address.new" "$address"
echo "done $gtid"
`

// args implements member.
func (n *galeraNode) args(ctx context.Context) ([]string, error) {
	var addresses []string
	for _, port := range n.all {
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	args := []string{
		"--binlog-format=ROW",
		"--default-storage-engine=InnoDB",
		"--innodb-autoinc-lock-mode=2",
		fmt.Sprintf("--server-id=%d", n.id), // UUID_SHORT() counts on it
		"--wsrep-on=ON",
		"--wsrep-provider=" + n.library,
		"--wsrep-cluster-name=prescient",
		fmt.Sprintf("--wsrep-node-address=127.0.0.1:%d", n.port),
		fmt.Sprintf("--wsrep-node-incoming-address=127.0.0.1:%d", n.listen),
		"--wsrep-sst-method=nothing",
		"--wsrep-slave-threads=4",
		fmt.Sprintf("--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:%d;ist.recv_addr=127.0.0.1:%d;"+
			"gcache.size=64M;gcs.fc_limit=128;evs.suspect_timeout=PT3S;evs.inactive_timeout=PT6S", n.port, n.ist),
	}
	if n.alone > 0 {
		n.alone, n.started = n.alone-1, true
		return append(args, "--wsrep-cluster-address=gcomm://", "--wsrep-new-cluster"), nil
	}
	args = append(args, "--wsrep-cluster-address=gcomm://"+strings.Join(addresses, ","))
	if n.started {
		position, err := n.recover(ctx, args)
		if err != nil {
			return nil, err
		}
		args = append(args, "--wsrep-start-position="+position)
	}
	n.started = true
	return args, nil
}

var recoveredPosition = regexp.MustCompile(`WSREP: Recovered position:\s*(\S+)`)

// recover finds out how far a node had come when it went down.
func (n *galeraNode) recover(ctx context.Context, cluster []string) (string, error) {
	i := n.server
	log := filepath.Join(i.folder.Path, "recover.log")
	args := append(i.serveArgs(n.listen, ""), cluster...)
	args = append(args, "--wsrep-recover", "--log-error="+log)
	output, err := exec.CommandContext(ctx, i.program.Path, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("finding out how far the node had come: %w: %s", err, output)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return "", fmt.Errorf("finding out how far the node had come: %w", err)
	}
	found := recoveredPosition.FindAllSubmatch(text, -1)
	if len(found) == 0 {
		return "", fmt.Errorf("finding out how far the node had come: its log does not tell: %s", text)
	}
	return string(found[len(found)-1][1]), nil
}

// join implements member.
func (n *galeraNode) join(ctx context.Context, begun starting) error {
	return begun.joined(ctx, "SELECT variable_value = 'Synced' FROM information_schema.global_status WHERE variable_name = 'wsrep_local_state_comment'")
}
