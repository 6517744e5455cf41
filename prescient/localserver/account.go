package localserver

import (
	"database/sql"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// An account is how one gets into a server: root's password, and the port of the loopback device.
type account struct {
	password string
	port     int
}

func (a account) addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(a.port))
}

func (a account) config(database string) *mysql.Config {
	config := mysql.NewConfig()
	config.User = "root"
	config.Passwd = a.password
	config.Net = "tcp"
	config.Addr = a.addr()
	config.DBName = database
	return config
}

// open opens a pool on the server.
func (a account) open() (*sql.DB, error) {
	config := a.config("")
	config.Logger = &mysql.NopLogger{}
	config.Timeout = 5 * time.Second
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("preparing to connect: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// statements make the account, for the socket and for the port. A server reads
// them, a statement a line, before it takes connections.
func (a account) statements() string {
	text := "SET sql_log_bin = 0;\n"
	for _, host := range []string{"localhost", "127.0.0.1"} {
		text += fmt.Sprintf("CREATE USER IF NOT EXISTS 'root'@'%s';\n", host)
		text += fmt.Sprintf("ALTER USER 'root'@'%s' IDENTIFIED BY '%s';\n", host, a.password)
		text += fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO 'root'@'%s' WITH GRANT OPTION;\n", host)
	}
	return text + "DROP USER IF EXISTS 'root'@'::1';\n"
}
