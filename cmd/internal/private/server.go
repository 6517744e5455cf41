package private

import (
	"context"
	"database/sql"
	"errors"

	"prescient/prescient/localserver"
)

// Start starts a server, and makes a database on it. What it started is gone again where it fails.
func Start(ctx context.Context, options localserver.Options, database string) (server *localserver.Server, dsn string, err error) {
	if server, err = localserver.Start(ctx, options); err != nil {
		return nil, "", err
	}
	admin, err := sql.Open("mysql", server.DSN(""))
	if err == nil {
		_, err = admin.ExecContext(ctx, "CREATE DATABASE "+database)
		err = errors.Join(err, admin.Close())
	}
	if err != nil {
		return nil, "", errors.Join(err, server.Close())
	}
	return server, server.DSN(database), nil
}
