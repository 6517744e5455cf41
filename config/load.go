package config

import (
	"cmp"
	"errors"
	"fmt"

	"prescient/config/value"
)

// Load reads and validates the configuration. The error joins an [*Error] for everything that is wrong, in one line
// each and without secrets; the Config is then zero. Files with secrets are read too, so these have to be there. A DSN
// is not asked for: see [Config.RequireDSN].
func Load(options Options) (Config, error) {
	options = options.complete()
	var wrong problems
	file := readFile(options, &wrong)
	refuseUnknownVariables(options.Environ(), referredVariables(file), &wrong)
	given := layer(options, file, &wrong)

	c := Config{File: file.path}
	for _, f := range fields(&c) {
		c.settings.note(take(f, given, &wrong))
	}
	if options.NoDatabase {
		c.TLS = TLS{}
	} else {
		readDatabase(&c, given, options.PasswordInFlag, &wrong)
	}
	c.Grid, c.Worker.Assignment = readSlots(given, &wrong)
	c.Jobs.Orders.TablePrefix = cmp.Or(c.Jobs.Orders.TablePrefix, c.TablePrefix)
	compareOrders(c.Jobs.Orders, given, &wrong)
	for _, i := range itemsOf(keyHTTP, file, &c.settings, &wrong) {
		c.Jobs.HTTP = append(c.Jobs.HTTP, readHTTPJob(i, options.Env))
	}
	for _, i := range itemsOf(keyCommand, file, &c.settings, &wrong) {
		c.Jobs.Command = append(c.Jobs.Command, readCommandJob(i))
	}
	for _, i := range itemsOf(keySQL, file, &c.settings, &wrong) {
		c.Jobs.SQL = append(c.Jobs.SQL, readSQLJob(i, options.Env))
	}
	refuseSameNames(c.Jobs, file, &wrong)
	for _, i := range itemsOf(keyRoutes, file, &c.settings, &wrong) {
		var route Route
		i.read(routeFields(&route), map[string]*value.Secret{"url": &route.URL}, "topics", "url")
		route.Secret = i.signingSecret(options.Env)
		c.Events.Routes = append(c.Events.Routes, route)
	}
	c.Heartbeats.URLs = readHeartbeats(file, &c.settings, &wrong)
	c.Heartbeats.checkSlots(given, &wrong)
	c.Notify.Receivers = readReceivers(file, &c.settings, &wrong, options.Env)
	if len(wrong.list) > 0 {
		return Config{}, errors.Join(wrong.list...)
	}
	return c, nil
}

// readDatabase reads how the database is reached, and what else is secret of serve.
func readDatabase(c *Config, given layers, passwordInFlag bool, p *problems) {
	if dsn, source := readDSN(given, passwordInFlag, p); !dsn.IsZero() {
		c.DSN = dsn
		c.settings.replace(Setting{Key: keyDSN, Value: dsn.String(), Source: source})
	}
	c.TLS = readTLS(c.TLS.ServerName, given, p)
	readServeDSNs(&c.Serve, given, passwordInFlag, &c.settings, p)
	c.Serve.OIDC.Secret = readFileOf(keyOIDCSecret, given, p)
}

// take reads the value of a key that needs no other, and returns what it is for Describe.
func take(f field, given layers, p *problems) Setting {
	text, source := given.given(f.name)
	if text == "" && f.fallback == "" {
		source = sourceDefault
	}
	f.read(f.name, text, source, p)
	return Setting{Key: f.name, Value: text, Source: source}
}

// Default returns the configuration where nothing is given.
func Default() Config {
	none := func(string) (string, bool) { return "", false }
	c, err := Load(Options{SearchPaths: []string{}, Env: none})
	if err != nil {
		panic(fmt.Errorf("config: the defaults are not valid: %w", err))
	}
	return c
}
