package connect

import (
	"context"
	"database/sql/driver"
	"errors"
	"io/fs"
	"net"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
)

// IsUnreachable says whether an error means that there is no working connection: the network, or a server that takes none, for now or from this
// account.
func IsUnreachable(err error) bool {
	var network net.Error
	var server *mysql.MySQLError
	var file *fs.PathError
	switch {
	case errors.As(err, &server):
		return errno.Is(err, errno.TooManyConnections, errno.DatabaseDenied, errno.UserDenied, errno.UnknownCommand, errno.NoDatabase, errno.ServerShutdown,
			errno.HostBlocked, errno.HostDenied, errno.TooManyConnectionsOfUser, errno.UserLimit, errno.UserDeniedPassword, errno.UserLocked, errno.Insecure)
	case errors.As(err, &file): // its errno would pass for a net.Error
		return false
	}
	return errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, mysql.ErrNoTLS) ||
		errors.Is(err, ErrNotTrusted) || errors.Is(err, context.DeadlineExceeded)
}
