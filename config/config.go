package config

import (
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"prescient/slots"

	"prescient/config/value"
	"prescient/prescient"
)

// Config is the configuration of the program, validated by [Load]. Printed in any way, it shows no secret. What is allowed
// and what holds by default stands with the keys, in [Example].
type Config struct {
	// File is the path of the file that was read, empty for none.
	File string
	// DSN is the go-sql-driver DSN of the database, from dsn or dsn_file; the zero Secret if neither was given. It is
	// printed with its password masked and without session variables.
	DSN value.Secret
	// TLS is how the server is verified.
	TLS TLS
	// Connections is how many connections to the database there are at most.
	Connections int
	// TablePrefix is put before the names of the tables.
	TablePrefix string
	// Dialect is that of SQL in which the database is used: DialectAuto or DialectPlain.
	Dialect string
	// Person is who makes changes, as the audit has it; empty for the user of the system.
	Person string
	// Grid has the resolution of the slots.
	Grid slots.Grid

	Worker Worker
	// Guards are those of the worker, filled in with their defaults.
	Guards prescient.Guards
	Sweep  Sweep
	Doctor Doctor
	Log    Log
	// Metrics is where a worker that stays up is watched.
	Metrics Metrics
	Jobs    Jobs
	// Events is how what is in the outbox is published.
	Events Events
	// Heartbeats are services outside that are told that all is well.
	Heartbeats Heartbeats
	// Notify is who is told of what doctor finds.
	Notify Notify
	// Serve is how others are let in over HTTP.
	Serve Serve

	settings settings
}

// The dialects of SQL.
const (
	DialectAuto  = "auto"  // what the server can do
	DialectPlain = "plain" // without what servers lack that are neither MySQL nor MariaDB
)

// What a slot run takes of the server.
const (
	PaceNeeded = "needed" // no more than ends it in time
	PaceFull   = "full"   // all that it may
)

// TLS is how the server is verified. What the files hold is read by [Load]; all is PEM text. The zero TLS leaves it to the
// DSN.
type TLS struct {
	// CA, from tls.ca_file, are the certificates one of which signed the server's.
	CA string
	// ServerName is what the server's certificate is for; empty for the host of the DSN.
	ServerName string
	// Cert and Key, from tls.cert_file and tls.key_file, are the client's; both or neither.
	Cert string
	Key  value.Secret
	// PublicKey, from tls.public_key_file, is the server's, for passwords where there is no TLS.
	PublicKey string
}

// Worker is how slots are worked on.
type Worker struct {
	// Assignment is which slots are served, in minutes of the UTC hour or as a share.
	Assignment slots.Assignment
	// Name is what the worker is called in the tables, and no other worker is; empty for one made of host and pid.
	Name string
	// Concurrency is how many job_execs run at a time.
	Concurrency int
	// Buckets is how many buckets are worked on at a time; 0 for as many as the distance to the server makes worth while.
	Buckets int
	// Batch is how many rows of a bucket are in flight at a time.
	Batch int
	// Pace is what a slot run takes of the server: PaceNeeded or PaceFull.
	Pace string
	// FinishWithin is by how long after its slot a slot run is to end at PaceNeeded, never more than the resolution; 0 for a tenth
	// of that, between 1 s and 30 s.
	FinishWithin time.Duration
	// Lease is how long a bucket stays allocated to a worker that is not heard of.
	Lease time.Duration
	// StopGrace is how long running job_execs may go on once the worker is told to stop.
	StopGrace time.Duration
	// Patience is how long a statement is tried again while the server is away.
	Patience time.Duration
	// PutOffPurge is for how long the server's purge waits for the end of a large slot; 0 for not at all.
	PutOffPurge time.Duration
	// Pools are those whose long runs are run here, and how many of each at a time. Those of no pool are run anyway.
	Pools map[string]int
}

// Sweep is how slots that are past are looked for.
type Sweep struct {
	// Every is the time from one sweep to the next.
	Every time.Duration
	// Grace is how old a slot has to be.
	Grace time.Duration
	// Rate is how many rows a second a sweep ends at most; 0 for no limit.
	Rate int
	// FinishWithin is within which time all that is late is to be caught up at PaceNeeded.
	FinishWithin time.Duration
}

// Doctor is from where on the command doctor finds fault.
type Doctor struct {
	// Overdue is the age from which overdue rows are bad; 0 for twice the time within which a sweep takes them.
	Overdue time.Duration
	// Missed is how many of the last slots may have been served by nobody.
	Missed int
	// Failing is from which percentage of failed calls of a job_exec on that is a finding, and FailingCalls from how many on.
	Failing, FailingCalls int
	// Clock is how far this machine's clock may be off the database's.
	Clock time.Duration
	// Partitions is how far ahead the partitions of history should reach.
	Partitions time.Duration
	// Purge is how many transactions the database may have to purge.
	Purge int
	// Transaction is for how long anybody's transaction may be open.
	Transaction time.Duration
}

// Metrics is where a worker that stays up is watched.
type Metrics struct {
	// Listen is the host:port at which it serves /metrics and /healthz; empty for nowhere.
	Listen string
}

// Log is what is logged and how.
type Log struct {
	// Level is the lowest level that is logged: trace, debug, info, warn, error or disabled.
	Level zerolog.Level
	// Format is [LogAuto], [LogConsole] or [LogJSON].
	Format string
}

// The formats of a log.
const (
	LogAuto    = "auto" // console on a terminal, otherwise json
	LogConsole = "console"
	LogJSON    = "json"
)

// Jobs are the ready-made job_execs that the program registers. No two have the same name.
type Jobs struct {
	HTTP    []HTTPJob
	Command []CommandJob
	SQL     []SQLJob
	Orders  OrdersJob
}

// HTTPJob is a job_exec that asks a URL.
type HTTPJob struct {
	// Exec is its name: letters, digits and _ . - , at most 64.
	Exec string
	// URL is absolute, http or https. Only its scheme and host are printed.
	URL value.Secret
	// Headers go with every call, by their names in lower case; nil for none. Their values are never printed.
	Headers map[string]value.Secret
	// Secret signs the calls. It is read from secret_file or secret_env and is zero if neither is given.
	Secret value.Secret
	// Long says that its calls are long runs, which may outlive their slots. The timeout of its guards bounds a call then, and zero
	// is for no bound.
	Long bool
	// Pool is whose agents may have its long runs; empty for all.
	Pool string
	// Guards of this job_exec; a zero field means the worker's.
	Guards prescient.Guards
}

// RevealHeaders returns the headers with their values, nil for none.
func (j HTTPJob) RevealHeaders() map[string]string {
	var headers map[string]string
	for name, value := range j.Headers {
		if headers == nil {
			headers = make(map[string]string, len(j.Headers))
		}
		headers[name] = value.Reveal()
	}
	return headers
}

// CommandJob is a job_exec that runs a program.
type CommandJob struct {
	// Exec is its name, as in HTTPJob.
	Exec string
	// Run is the program and its arguments. Only the program is printed.
	Run []value.Secret
	// Shell says that the first of Run is a script, which a shell reads.
	Shell bool
	// Env are variables of its environment, whose values are never printed, and PassEnv the names of those of the worker that it gets.
	Env     map[string]value.Secret
	PassEnv []string
	// Dir is where it runs, and User whom it runs as; empty for / and for the worker's.
	Dir, User string
	// Grace is what it has between TERM and KILL; 0 for the default.
	Grace  time.Duration
	Limits Limits
	// Long and Pool are as in HTTPJob.
	Long bool
	Pool string
	// Guards of this job_exec; a zero field means the worker's. Timeout is that of the program.
	Guards prescient.Guards
}

// None is the limit that is no bound; in a configuration it is written 0.
const None = -1

// Limits are what a program may take. A zero field means the default, None no bound.
type Limits struct {
	// Memory is in bytes.
	Memory int64
	// CPU is the processor time of a process; 0 for no bound.
	CPU time.Duration
	// Nice is by how much it makes way for others.
	Nice int
	// Processes and Files are how many of them it may have; 0 files for as many as the worker.
	Processes, Files int
}

// RevealRun returns the program and its arguments.
func (j CommandJob) RevealRun() []string {
	var run []string
	for _, word := range j.Run {
		run = append(run, word.Reveal())
	}
	return run
}

// RevealEnv returns the variables with their values.
func (j CommandJob) RevealEnv() map[string]string {
	env := make(map[string]string, len(j.Env))
	for name, value := range j.Env {
		env[name] = value.Reveal()
	}
	return env
}

// SQLJob is a job_exec that asks a table whether something has not happened yet, and acts where it has not.
type SQLJob struct {
	// Exec is its name, as in HTTPJob.
	Exec string
	// DSN is that of an account that may only read. It is read from dsn_file or dsn_env, and is zero, for the other DSN, if neither is given.
	DSN value.Secret
	// Table and Column have the keys of the entities, which are Key: KeyInt or KeyText.
	Table, Column, Key string
	// While is the condition, and Scan whether it may read a whole table.
	While string
	Scan  bool
	// Again are the times from one action to the next, and Every the one after those.
	Again []time.Duration
	Every time.Duration
	// Topics are those of an event, the first, the second, … time, and Set what an UPDATE assigns.
	Topics []string
	Set    string
	// URL is called, with Headers and Secret, as those of HTTPJob are.
	URL     value.Secret
	Headers map[string]value.Secret
	Secret  value.Secret
	// Guards of this job_exec; a zero field means the worker's.
	Guards prescient.Guards
}

// The kinds of keys of entities.
const (
	KeyInt  = "int"
	KeyText = "text"
)

// OrdersJob is the ready-made check of orders.
type OrdersJob struct {
	// Enabled is whether the program registers it.
	Enabled bool
	// Exec is its name, as in HTTPJob.
	Exec string
	// TablePrefix is put before the names of its tables; the other TablePrefix where none is given.
	TablePrefix string
	// PrimaryAfter and EscalateAfter are counted from when the order was placed, the second longer than the first.
	PrimaryAfter  time.Duration
	EscalateAfter time.Duration
	// Guards of this job_exec; a zero field means the worker's.
	Guards prescient.Guards
}

// Events is how a forwarder publishes what is in the outbox.
type Events struct {
	// Routes say where events go; without one nothing is published.
	Routes []Route
	// Lease is how long shards of the outbox stay those of a forwarder that is not heard of.
	Lease time.Duration
	// Poll is how often it looks for events.
	Poll time.Duration
	// Concurrency is how many events are published at a time.
	Concurrency int
	// Keep has published events kept in event_published.
	Keep bool
	// Source is that of events in the formats of CloudEvents.
	Source string
}

// What becomes of an event that a broker refuses for good.
const (
	RefusedSetAside = "set-aside" // it goes to event_set_aside, and its key goes on
	RefusedHold     = "hold"      // it is tried again, and its key waits
)

// Route says where the events of some topics go.
type Route struct {
	// Topics is a topic, or the beginning of some and *.
	Topics string
	// URL names the broker. Only its scheme is printed.
	URL value.Secret
	// Format is what events are made into; plain, unless the program has others.
	Format string
	// Refused is RefusedSetAside or RefusedHold.
	Refused string
	// Secret signs what is published. It is read from secret_file or secret_env and is zero if neither is given.
	Secret value.Secret
}

// Heartbeats are services outside that are told that all is well.
type Heartbeats struct {
	URLs []Heartbeat
	// Slots is the name of the one that is told of served slots; empty for none.
	Slots string
}

// Heartbeat is a service that is told by GET. Of its URLs only scheme and host are printed.
type Heartbeat struct {
	// Name is what schedules call it; no two have the same.
	Name string
	// Start and Failure may be empty; then these are not told.
	Start, Success, Failure value.Secret
}

// Serve is how the command serve lets others in over HTTP.
type Serve struct {
	// Address is the host:port at which it listens.
	Address string
	// Open is the role of requests without a token; empty where these are refused.
	Open string
	// Viewer, Operator and Admin are the DSNs of the accounts on which operations run, by the role of the caller, and Door that of the account which
	// knows callers. The zero Secret is for the DSN of the others.
	Viewer, Operator, Admin, Door value.Secret
	// CertFile and KeyFile are PEM files, read again when they change; both or neither.
	CertFile, KeyFile string
	// Rate is how many requests a second a caller may send, Concurrent how many are done at a time, and Connections how many connections are open.
	Rate, Concurrent, Connections int
	// BaseURL is where browsers find the page, and Place and Colour are what it calls the installation and shows it by.
	BaseURL, Place, Colour string
	// Proxies are believed when they say where a request came from.
	Proxies []netip.Prefix
	// SessionIdle is for how long a session on the page may be unused, and SessionTime how long it is good at most.
	SessionIdle, SessionTime time.Duration
	// OIDC is the provider by which people sign in.
	OIDC OIDC
}

// OIDC is a provider of OpenID Connect; none where the Issuer is empty.
type OIDC struct {
	Issuer, ClientID string
	// Secret is read from serve.oidc_secret_file; the zero Secret for none.
	Secret value.Secret
	// NameClaim names a person, and RoleClaim has what Roles are looked up by.
	NameClaim, RoleClaim string
	Roles                map[string]string
}

// The words of serve.open.
const (
	OpenViewer   = "viewer"
	OpenOperator = "operator"
	OpenAdmin    = "admin"
)
