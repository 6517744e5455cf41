package page

// Engine is a kind of server to measure on.
type Engine string

// The engines.
const (
	MariaDB       Engine = "mariadb"
	MySQL         Engine = "mysql"
	MySQLNoBinlog Engine = "mysql-nobinlog"
)
