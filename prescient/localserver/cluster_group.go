package localserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// groupMember is a member of a replication group with one primary.
type groupMember struct {
	account account
	data    string    // the folder with its data
	others  []account // of the other members
	id      int
	group   string
	port    int
	all     []int
	started bool
}

func makeGroup(nodes []*Server, ports []int) {
	group := newUUID()
	for i, s := range nodes {
		var others []account
		for _, other := range slices.Concat(nodes[:i], nodes[i+1:]) {
			others = append(others, other.account)
		}
		s.member = &groupMember{account: s.account, data: s.installation.folder.Data(), others: others,
			id: i + 1, group: group, port: ports[i], all: ports}
	}
}

// args implements member.
func (m *groupMember) args(context.Context) ([]string, error) {
	var seeds []string
	for _, port := range m.all {
		seeds = append(seeds, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return []string{
		fmt.Sprintf("--server-id=%d", m.id),
		"--super-read-only=ON", // until it has joined: what it took before, the others would not have
		"--gtid-mode=ON",
		"--enforce-gtid-consistency=ON",
		"--log-bin=" + filepath.Join(m.data, "binlog"),
		"--report-host=127.0.0.1",
		"--plugin-load-add=group_replication.so",
		"--loose-group-replication-group-name=" + m.group,
		fmt.Sprintf("--loose-group-replication-local-address=127.0.0.1:%d", m.port),
		"--loose-group-replication-group-seeds=" + strings.Join(seeds, ","),
		"--loose-group-replication-start-on-boot=OFF",
		"--loose-group-replication-recovery-get-public-key=ON",
		// A dead member is expelled 5 s after it was last heard of, in place of 10.
		"--loose-group-replication-member-expel-timeout=0",
	}, nil
}

// join implements member: the first start of the first member makes the group.
func (m *groupMember) join(ctx context.Context, begun starting) error {
	statements := []string{
		fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root', SOURCE_PASSWORD = '%s' FOR CHANNEL 'group_replication_recovery'", m.account.password),
	}
	if m.id == 1 && !m.started {
		statements = append(statements, "SET GLOBAL group_replication_bootstrap_group = ON", "START GROUP_REPLICATION",
			"SET GLOBAL group_replication_bootstrap_group = OFF")
	} else {
		if m.started {
			if err := m.expelled(ctx); err != nil {
				return err
			}
		}
		statements = append(statements, "START GROUP_REPLICATION")
	}
	m.started = true
	return begun.joined(ctx,
		"SELECT member_state = 'ONLINE' FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid", statements...)
}

// expelled waits until the others have noticed that the member was gone: one that comes back before that waits for a
// minute, and gives up.
func (m *groupMember) expelled(ctx context.Context) error {
	for _, other := range m.others {
		db, err := other.open()
		if err != nil {
			return err
		}
		for {
			var listed bool
			// No answer: it is gone itself.
			err := db.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM performance_schema.replication_group_members WHERE member_port = ?",
				m.account.port).Scan(&listed)
			if err != nil || !listed {
				break
			}
			select {
			case <-ctx.Done():
				return errors.Join(fmt.Errorf("waiting until the group has noticed that the member was gone: %w", ctx.Err()), db.Close())
			case <-time.After(readyPause):
			}
		}
		_ = db.Close()
	}
	return nil
}

// newUUID returns a random UUID.
func newUUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
