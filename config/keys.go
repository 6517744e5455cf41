package config

import (
	_ "embed"
	"time"

	"prescient/config/value"
	"prescient/jobs/condition/expression"
)

// Example is a file with every key and its default, and comments. Loaded as it is, it changes nothing.
//
//go:embed prescient.example.yaml
var Example string

// Keys that are read together with others, or compared with them.
const (
	keyConfig     = "config"
	keyDSN        = "dsn"
	keyDSNFile    = "dsn_file"
	keyResolution = "slots.resolution"
	keyMinutes    = "worker.minutes"
	keyShare      = "worker.share"
	keyPools      = "worker.pools"
	keyHTTP       = "jobs.http"
	keyCommand    = "jobs.command"
	keySQL        = "jobs.sql"
	keyRoutes     = "events.routes"
	keyHeartbeats = "heartbeats.urls"
	keyReceivers  = "notify.receivers"
	keyHeaders    = "headers"
	keyRun        = "run"
	keyEnv        = "env"
	keyPassEnv    = "pass_env"
	keySecretFile = "secret_file"
	keySecretEnv  = "secret_env"
	keyPrimary    = "jobs.orders.primary_after"
	keyEscalate   = "jobs.orders.escalate_after"
	keyDSNEnv     = "dsn_env"
	keyAgain      = "again"
	keyTopics     = "topics"
	keyOrdersExec = "jobs.orders.exec"

	keyBeatOfSlots = "heartbeats.slots"

	keyCAFile        = "tls.ca_file"
	keyCertFile      = "tls.cert_file"
	keyKeyFile       = "tls.key_file"
	keyPublicKeyFile = "tls.public_key_file"

	keyServeCert = "serve.tls_cert_file"
	keyServeKey  = "serve.tls_key_file"

	keyOIDCSecret = "serve.oidc_secret_file"
)

const (
	longest         = 3660 * value.Day
	mostAllowed     = 1_000_000
	mostConcurrency = 10_000
	mostAddresses   = 50 // of e-mail, of one receiver
	mostTimes       = 100
)

// A field is a key and what becomes of its text.
type field struct {
	name     string
	fallback string // the default, as it would be written
	// set reads the text; nil where it is resolved together with others. It is not called for an empty text of a key
	// whose default is empty.
	set   value.Parser
	kind  string // what a flag takes
	usage string // of the flag; there is none without it
}

// read hands a text to the field that a key is. An empty text of a key whose default is empty counts as not given.
func (f field) read(key, text, source string, p *problems) {
	if f.set == nil || text == "" && f.fallback == "" {
		return
	}
	if err := f.set(text); err != nil {
		p.add(key, source, err)
	}
}

// fields returns every key that has one value, in the order of the example file, set to fill c.
func fields(c *Config) []field {
	w, g, s, l, o, d, e, v := &c.Worker, &c.Guards, &c.Sweep, &c.Log, &c.Jobs.Orders, &c.Doctor, &c.Events, &c.Serve
	i, n := &v.OIDC, &c.Notify
	list := append([]field{
		{keyDSN, "", nil, "dsn",
			"user@tcp(host:port,host:port)/database, one host or more; one with a password is refused here, where others can see it: see --dsn-file"},
		{keyDSNFile, "", nil, "path", "file that holds the DSN"},
		{keyCAFile, "", nil, "path", "PEM file of the certificates that sign the server's; encrypts and verifies"},
		{"tls.server_name", "", value.Label(&c.TLS.ServerName, 255), "name", "what the server's certificate is for (default the host of the DSN)"},
		{keyCertFile, "", nil, "path", "PEM file of the client's certificate"},
		{keyKeyFile, "", nil, "path", "PEM file of the client's key"},
		{keyPublicKeyFile, "", nil, "path", "PEM file of the server's RSA key, for passwords where there is no TLS"},
		{"connections", "40", value.Number(&c.Connections, 8, 10_000), "number",
			"connections to the database, at most; 8 of them are kept for leases, heartbeats and commits"},
		{"table_prefix", "", value.TablePrefix(&c.TablePrefix), "text", "put before the names of the tables: a-z, 0-9 and _"},
		{"dialect", DialectAuto, value.OneOf(&c.Dialect, DialectAuto, DialectPlain), "dialect",
			"auto (what the server can do) or plain, which does without what servers lack that are neither MySQL nor MariaDB"},
		{"person", "", value.Label(&c.Person, 128), "text", "who makes changes, for the audit (default the user of the system)"},
		{keyResolution, "15m", nil, "duration", "distance between two slots; it divides a day"},
		{keyMinutes, "", nil, "minutes",
			"minutes of the UTC hour that are served, as in cron: 0,30 or */2 (default all)"},
		{keyShare, "", nil, "n/of", "share of the slots that is served, such as 1/2 (default all)"},
		{"worker.name", "", value.Label(&w.Name, 64), "text", "name of the worker in the tables (default host:pid)"},
		{"worker.concurrency", "32", value.Number(&w.Concurrency, 1, mostConcurrency), "number", "job_execs that run at a time"},
		{"worker.buckets", "0", value.Number(&w.Buckets, 0, 256), "number",
			"buckets that are worked on at a time; 0 for 4, and up to 8 the further away the server is"},
		{"worker.batch", "2000", value.Number(&w.Batch, 1, 20000), "number", "rows of a bucket that are in flight at a time"},
		{"worker.pace", PaceNeeded, value.OneOf(&w.Pace, PaceNeeded, PaceFull), "pace",
			"needed (no more of the server than ends a slot in time) or full, as fast as it can"},
		{"worker.finish_within", "0s", value.Duration(&w.FinishWithin, 0, value.Day), "duration",
			"time after its slot by which a slot run is to end; 0s for a tenth of the resolution, between 1s and 30s"},
		{"worker.lease", "60s", value.Duration(&w.Lease, 2*time.Second, time.Hour), "duration",
			"time after which the buckets of a silent worker are free for others"},
		{"worker.stop_grace", "20s", value.Duration(&w.StopGrace, time.Millisecond, time.Hour), "duration",
			"time that running job_execs have once the worker is told to stop"},
		{"worker.patience", "2m", value.Duration(&w.Patience, time.Second, value.Day), "duration",
			"time that a statement is tried again while the server is away"},
		{"worker.put_off_purge", "0s", value.Duration(&w.PutOffPurge, 0, time.Minute), "duration",
			"time for which the server's purge waits for the end of a large slot; 0s for not at all"},
		{keyPools, "", value.Capacities(&w.Pools, mostConcurrency), "name=number,…",
			"pools whose long runs are run here, with how many at a time: heavy=4,eu=2 (default none)"},
	}, guardsOfAll(g)...)
	list = append(list, []field{
		{"sweep.every", "1m", value.Duration(&s.Every, time.Second, time.Hour), "duration",
			"time from one sweep for slots that are past to the next"},
		{"sweep.grace", "10s", value.Duration(&s.Grace, time.Millisecond, value.Day), "duration", "age from which a slot is swept"},
		{"sweep.rate", "0", value.Number(&s.Rate, 0, 10_000_000), "number",
			"rows a second that a sweep ends at most; 0 for no limit"},
		{"sweep.finish_within", "5m", value.Duration(&s.FinishWithin, time.Second, value.Day), "duration",
			"time within which all that is late is to be caught up, at the pace needed"},
		{"doctor.overdue", "0s", value.Duration(&d.Overdue, 0, longest), "duration",
			"age from which doctor calls overdue rows bad; 0s for twice the time within which a sweep takes them"},
		{"doctor.missed", "0", value.Number(&d.Missed, 0, mostAllowed), "number",
			"how many of the last slots may have been served by nobody, for doctor"},
		{"doctor.failing", "10", value.Number(&d.Failing, 1, 100), "number",
			"percentage of calls of a job_exec in the last hour that fail, from which on doctor says so"},
		{"doctor.failing_calls", "10", value.Number(&d.FailingCalls, 1, mostAllowed), "number",
			"how many calls have to fail for that"},
		{"doctor.clock", "1s", value.Duration(&d.Clock, time.Millisecond, time.Hour), "duration",
			"how far the clock may be off the database's, for doctor"},
		{"doctor.partitions", "7d", value.Duration(&d.Partitions, value.Day, 56*value.Day), "duration",
			"how far ahead the partitions of history should reach, for doctor"},
		{"doctor.purge", "1000000", value.Number(&d.Purge, 1, 1_000_000_000), "number",
			"transactions that the database may have to purge, for doctor"},
		{"doctor.transaction", "1h", value.Duration(&d.Transaction, time.Second, longest), "duration",
			"time for which anybody's transaction may be open, for doctor"},
		{"log.level", "info", value.Level(&l.Level), "level",
			"lowest level that is logged: trace, debug, info, warn, error or disabled"},
		{"log.format", LogAuto, value.OneOf(&l.Format, LogAuto, LogConsole, LogJSON), "format",
			"auto (console on a terminal, otherwise json), console or json"},
		{"metrics.listen", "", value.ListenAddress(&c.Metrics.Listen), "host:port",
			"where work serves /metrics and /healthz (default nowhere)"},
		{"serve.address", "127.0.0.1:8080", value.ListenAddress(&v.Address), "host:port", "where serve listens"},
		{"serve.open", "", value.OneOf(&v.Open, OpenViewer, OpenOperator, OpenAdmin), "role",
			"role of requests that have no token: viewer, operator or admin (default they are refused)"},
		{"serve.dsn_viewer", "", nil, "dsn", "DSN on which serve does what viewers ask for (default --dsn); those below likewise"},
		{"serve.dsn_operator", "", nil, "dsn", "what operators ask for"},
		{"serve.dsn_admin", "", nil, "dsn", "what admins ask for"},
		{"serve.dsn_door", "", nil, "dsn", "by which serve looks tokens up"},
		{keyServeCert, "", value.Label(&v.CertFile, 4096), "path", "PEM file of serve's certificate, read again when it changes"},
		{keyServeKey, "", value.Label(&v.KeyFile, 4096), "path", "PEM file of its key"},
		{"serve.rate", "20", value.Number(&v.Rate, 1, mostAllowed), "number", "requests a second that serve takes of each caller"},
		{"serve.concurrent", "32", value.Number(&v.Concurrent, 1, mostConcurrency), "number", "requests that serve does at a time"},
		{"serve.connections", "512", value.Number(&v.Connections, 16, mostConcurrency), "number", "connections that serve has open, a quarter of them of one address"},
		{"serve.base_url", "", value.BaseURL(&v.BaseURL), "url", "where browsers find the page (default the root of whatever host they ask)"},
		{"serve.place", "", value.Label(&v.Place, 64), "text", "what the page calls the installation"},
		{"serve.colour", "grey", value.OneOf(&v.Colour, "blue", "green", "grey", "orange", "red", "teal", "violet"), "colour",
			"colour of the page's bar: blue, green, grey, orange, red, teal or violet"},
		{"serve.proxies", "", value.Networks(&v.Proxies), "networks", "proxies that are believed when they say where a request came from: 10.0.0.7,10.1.0.0/16"},
		{"serve.session_idle", "2h", value.Duration(&v.SessionIdle, 5*time.Minute, longest), "duration", "how long a session on the page may be unused"},
		{"serve.session_time", "12h", value.Duration(&v.SessionTime, 5*time.Minute, longest), "duration", "how long a session on the page is good at most"},
		{"serve.oidc_issuer", "", value.BaseURL(&i.Issuer), "url", "provider of OpenID Connect by which people sign in (default none)"},
		{"serve.oidc_client_id", "", value.Label(&i.ClientID, 255), "text", "what the provider knows this installation by"},
		{keyOIDCSecret, "", nil, "path", "file that holds what this installation proves itself by to the provider"},
		{"serve.oidc_name_claim", "email", value.Label(&i.NameClaim, 255), "claim", "claim that names a person"},
		{"serve.oidc_role_claim", "groups", value.Label(&i.RoleClaim, 255), "claim", "claim by which a person has a role; dots lead into it"},
		{"serve.oidc_roles", "", value.Assigned(&i.Roles, OpenViewer, OpenOperator, OpenAdmin), "text=role,…",
			"roles of what that claim says, * for everybody: sre=operator,*=viewer"},
		{"events.lease", "15s", value.Duration(&e.Lease, 2*time.Second, time.Hour), "duration",
			"time after which the shards of a silent forwarder are free for others"},
		{"events.poll", "250ms", value.Duration(&e.Poll, 10*time.Millisecond, time.Minute), "duration",
			"how often a forwarder looks for events that other processes have committed"},
		{"events.concurrency", "256", value.Number(&e.Concurrency, 1, mostConcurrency), "number", "events of a topic that are published at a time"},
		{"events.keep", "false", value.Truth(&e.Keep), "bool", "whether published events are kept: true or false"},
		{"events.source", "prescient", value.Label(&e.Source, 255), "uri", "source of events in the formats of CloudEvents"},
		{keyBeatOfSlots, "", value.Identifier(&c.Heartbeats.Slots), "name", "heartbeat that is told of served slots (default none)"},
		{"notify.every", "1m", value.Duration(&n.Every, 10*time.Second, time.Hour), "duration", "time from one look for findings to the next, where receivers are to be told of them"},
		{"notify.hold", "2m", value.Duration(&n.Hold, 0, value.Day), "duration", "how long a finding is to be there before it is told"},
		{"notify.gone", "5m", value.Duration(&n.Gone, 0, value.Day), "duration", "how long a finding is to be gone before it is over"},
		{"notify.reminder", "1d", value.Duration(&n.Reminder, 0, 366*value.Day), "duration", "time after which what is still there is told again; 0s for never"},
		{"notify.ignore", "", value.Identifiers(&n.Ignore), "code,…", "findings of doctor that nobody is told of, by their codes (default none)"},
		{name: "jobs.orders.enabled", fallback: "false", set: value.Truth(&o.Enabled)},
		{name: keyOrdersExec, fallback: "order-unshipped", set: value.Identifier(&o.Exec)},
		{name: "jobs.orders.table_prefix", set: value.TablePrefix(&o.TablePrefix)},
		{name: keyPrimary, fallback: "3h", set: value.Duration(&o.PrimaryAfter, time.Second, longest)},
		{name: keyEscalate, fallback: "6h", set: value.Duration(&o.EscalateAfter, time.Second, longest)},
	}...)
	return append(list, guardsOfOne("jobs.orders.", &o.Guards)...)
}

// httpFields returns the keys of an item of jobs.http that have one value, set to fill j.
func httpFields(j *HTTPJob) []field {
	list := []field{
		{name: "exec", set: value.Identifier(&j.Exec)},
		{name: "url", set: value.HTTPURL(&j.URL)},
		{name: keySecretFile},
		{name: keySecretEnv},
		{name: "long", set: value.Truth(&j.Long)},
		{name: "pool", set: value.Identifier(&j.Pool)},
	}
	return append(list, guardsOfOne("", &j.Guards)...)
}

// commandFields returns the keys of an item of jobs.command that have one value, set to fill j. A 0 is for no bound.
func commandFields(j *CommandJob) []field {
	l := &j.Limits
	list := []field{
		{name: "exec", set: value.Identifier(&j.Exec)},
		{name: "shell", set: value.Truth(&j.Shell)},
		{name: "dir", set: value.Label(&j.Dir, 4096)},
		{name: "user", set: value.Label(&j.User, 64)},
		{name: "grace", set: value.Duration(&j.Grace, time.Millisecond, 30*time.Second)},
		{name: "memory", set: value.Size(&l.Memory, 16<<20, None)},
		{name: "cpu", set: value.Duration(&l.CPU, time.Second, value.Day)},
		{name: "nice", set: value.Allowance(&l.Nice, 19, None)},
		{name: "processes", set: value.Allowance(&l.Processes, mostAllowed, None)},
		{name: "files", set: value.Number(&l.Files, 8, mostAllowed)},
		{name: "long", set: value.Truth(&j.Long)},
		{name: "pool", set: value.Identifier(&j.Pool)},
	}
	return append(list, guardsOfOne("", &j.Guards)...)
}

// sqlFields returns the keys of an item of jobs.sql that have one value, set to fill j.
func sqlFields(j *SQLJob) []field {
	list := []field{
		{name: "exec", set: value.Identifier(&j.Exec)},
		{name: keyDSNFile},
		{name: keyDSNEnv},
		{name: "table", set: value.Checked(&j.Table, expression.Table)},
		{name: "column", set: value.Checked(&j.Column, expression.Column)},
		{name: "key", set: value.OneOf(&j.Key, KeyInt, KeyText)},
		{name: "while", set: value.Checked(&j.While, expression.Condition)},
		{name: "scan", set: value.Truth(&j.Scan)},
		{name: "every", set: value.Duration(&j.Every, time.Second, longest)},
		{name: "set", set: value.Checked(&j.Set, expression.Assignments)},
		{name: "url", set: value.HTTPURL(&j.URL)},
		{name: keySecretFile},
		{name: keySecretEnv},
	}
	return append(list, guardsOfOne("", &j.Guards)...)
}

// routeFields returns the keys of an item of events.routes, set to fill r.
func routeFields(r *Route) []field {
	return []field{
		{name: "topics", set: value.Topics(&r.Topics)},
		{name: "url", set: value.BrokerURL(&r.URL)},
		{name: "format", fallback: "plain", set: value.Identifier(&r.Format)},
		{name: "refused", fallback: RefusedSetAside, set: value.OneOf(&r.Refused, RefusedSetAside, RefusedHold)},
		{name: keySecretFile},
		{name: keySecretEnv},
	}
}

// heartbeatFields returns the keys of an item of heartbeats.urls, set to fill h.
func heartbeatFields(h *Heartbeat) []field {
	return []field{
		{name: "name", set: value.Identifier(&h.Name)},
		{name: "success", set: value.HTTPURL(&h.Success)},
		{name: "start", set: value.HTTPURL(&h.Start)},
		{name: "failure", set: value.HTTPURL(&h.Failure)},
	}
}

// receiverFields returns the keys of an item of notify.receivers that have one value, set to fill r.
func receiverFields(r *Receiver) []field {
	return []field{
		{name: "name", set: value.Identifier(&r.Name)},
		{name: "kind", fallback: KindWebhook, set: value.OneOf(&r.Kind, KindWebhook, KindAlertmanager, KindMail)},
		{name: "url", set: value.ReceiverURL(&r.URL)},
		{name: keySecretFile},
		{name: keySecretEnv},
		{name: "from", set: value.Addresses(&r.From, 1)},
		{name: "to", set: value.Addresses(&r.To, mostAddresses)},
		{name: "level", fallback: LevelWarn, set: value.OneOf(&r.Level, LevelWarn, LevelBad)},
		{name: "quiet", set: value.Hours(&r.QuietFrom, &r.QuietUntil)},
		{name: "zone", fallback: "UTC", set: value.Zone(&r.Zone)},
		{name: "quiet_for", fallback: LevelWarn, set: value.OneOf(&r.QuietFor, LevelWarn, QuietAll)},
		{name: "rate", fallback: "6", set: value.Number(&r.Rate, 1, 600)},
	}
}
